import QtQuick 2.0
import org.shotcut.qml 1.0

Metadata {
    type: Metadata.Filter
    name: "Histeq"
    keywords: "histogram equalize contrast night haze underwater thermal"
    objectName: "histeq"
    mlt_service: "frei0r.histeq"
    qml: "ui.qml"
}
