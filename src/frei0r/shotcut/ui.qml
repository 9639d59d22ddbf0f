import QtQuick 2.12
import QtQuick.Controls 2.12
import QtQuick.Layouts 1.12
import Shotcut.Controls 1.0 as Shotcut

Item {
    property var looks: ["natural", "night", "haze", "underwater", "faithful", "thermal", "exact"]

    width: 350
    height: 150
    Component.onCompleted: {
        if (filter.isNew) {
            filter.set("look", looks[0]);
            filter.set("strength", 1);
            filter.set("denoise", 0);
        }
        look.currentIndex = Math.max(0, looks.indexOf(filter.get("look")));
        strength.value = filter.getDouble("strength") * 100;
        denoise.value = filter.getDouble("denoise") * 100;
    }

    GridLayout {
        anchors.fill: parent
        anchors.margins: 8
        columns: 2

        Label {
            text: "Look"
        }

        Shotcut.ComboBox {
            id: look

            model: looks
            onActivated: filter.set("look", looks[currentIndex])
        }

        Label {
            text: "Strength"
        }

        Shotcut.SliderSpinner {
            id: strength

            maximumValue: 100
            suffix: " %"
            onValueChanged: filter.set("strength", value / 100)
        }

        Label {
            text: "Denoise"
        }

        Shotcut.SliderSpinner {
            id: denoise

            maximumValue: 100
            suffix: " %"
            onValueChanged: filter.set("denoise", value / 100)
        }

        Item {
            Layout.fillHeight: true
        }

    }

}
