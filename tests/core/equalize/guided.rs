//! Every backend produces the reference's bytes with guides, which decide scenes, levels and colour before
//! equalization: stretched levels, dark footage, haze, casts and flicker, cuts and flashes, with and without
//! look-ahead, in every format; also when a backend takes over from another.

use crate::backends::{Backend, available};
use crate::equalize::grid::LAYOUTS;
use crate::pictures::{Content, Picture, difference, placement_and_range};
use histeq::internal::equalize::backend::reference::{Reference, balanced};
use histeq::internal::equalize::counting::measure;
use histeq::internal::equalize::{EqualizeStage, Equalized, Executor, Role, Work};
use histeq::internal::frame::{Frame, HostPool, Matrix, PixelFormat, Plane, Range, Transfer};
use histeq::internal::spec::curves::tone::{Balance, MAX_GAIN, Veil};
use histeq::internal::spec::curves::{Curve, Levels, Mapping};
use histeq::internal::spec::natural::{Assumed, InLight, MAX_PEAK, ToneCurve, Toned, light};
use histeq::internal::spec::parameters::{
    Chroma, Gain, Method, Plateau, Region, Settings, Smoothing, Strength, Stretch,
};
use histeq::internal::spec::time::{Change, Remembered};
use histeq::internal::spec::{Guide, Guides};

/// The change between each frame and the frame before it.
const CHANGES: [Change; 16] = {
    use Change::{AfterFlash, Cut, Flash, None};
    [None, None, Flash, None, Cut, None, Flash, Flash, None, None, Cut, AfterFlash, None, None, Cut, None]
};

/// Settings for each kind of decision by a guide.
fn treatments() -> Vec<Settings> {
    let gain = |slope| Gain::from_slope(slope).unwrap();
    let plain = Settings { chroma: Chroma::Follow, ..Settings::default() };
    let natural = |assumed| Settings { method: Method::Natural { assumed, most: Gain::OFF, faithful: false }, ..plain };
    let unused = Settings { stretch: Stretch::Unused { most: gain(4.0), fades: true }, max_gain: gain(3.0), ..plain };
    vec![
        unused,
        Settings { max_gain: Gain::OFF, ..unused },
        Settings {
            stretch: Stretch::Full { share: Strength::FULL },
            max_gain: gain(2.5),
            plateau: Plateau::Millionths(20_000),
            ..plain
        },
        Settings { strength: Strength::from_share(0.4).unwrap(), bins: Some(50), region: Region::Auto, ..unused },
        Settings { chroma: Chroma::Keep, ..unused },
        Settings { hides_noise: true, ..unused },
        Settings { hides_noise: true, stretch: Stretch::Full { share: Strength::FULL }, ..plain },
        Settings { hides_noise: true, method: Method::Clahe { columns: 2, rows: 2 }, ..unused },
        Settings { hides_noise: true, method: Method::Detail { columns: 3, rows: 2 }, ..unused },
        Settings {
            method: Method::Detail { columns: 2, rows: 4 },
            stretch: Stretch::Full { share: Strength::FULL },
            max_gain: gain(4.0),
            ..plain
        },
        Settings { method: Method::Clahe { columns: 3, rows: 2 }, ..unused },
        Settings { method: Method::Clahe { columns: 2, rows: 3 }, keeps_peak: true, bins: Some(40), ..unused },
        Settings { keeps_peak: true, plateau: Plateau::Count(9), ..unused },
        natural(Assumed::Nothing),
        natural(Assumed::Dark),
        natural(Assumed::Veil),
        natural(Assumed::Cast),
        Settings { keeps_peak: true, ..natural(Assumed::Nothing) },
        Settings { keeps_peak: true, ..natural(Assumed::Dark) },
        Settings { keeps_peak: true, ..natural(Assumed::Veil) },
        Settings { keeps_peak: true, ..natural(Assumed::Cast) },
        Settings { strength: Strength::from_share(0.4).unwrap(), ..natural(Assumed::Cast) },
        Settings { chroma: Chroma::Keep, ..natural(Assumed::Veil) },
        Settings { chroma: Chroma::Keep, ..natural(Assumed::Cast) },
        Settings { strength: Strength::from_share(0.4).unwrap(), ..natural(Assumed::Veil) },
        Settings { method: Method::Deflicker, ..plain },
    ]
}

fn windows() -> [Smoothing; 3] {
    [Smoothing::OFF, Smoothing::new(4, 2), Smoothing::new(6, 2).looking_ahead(3)]
}

/// A video with `changes` between its frames, and with guides that are derived from the frames.
fn video(format: PixelFormat, size: (usize, usize), settings: Settings, changes: &[Change]) -> Vec<Work> {
    guided(frames(format, size, settings, changes.len()), settings, changes)
}

/// Frames of several contents, ranges and memory layouts.
fn frames(format: PixelFormat, size: (usize, usize), settings: Settings, count: usize) -> Vec<Frame> {
    let frame = |index: usize| {
        let (placement, range) = placement_and_range(index / 7);
        let content = [Content::NearZero, Content::Ramp, Content::Noise][index % 3];
        let seed = index as u64 + 1;
        let mut frame =
            Picture { seed, content, placement, range, matrix: Matrix::Bt709, ..Picture::new(format, size) }.make();
        if settings.keeps_peak {
            frame.transfer = [Transfer::Pq, Transfer::Hlg][seed as usize / 3 % 2];
        }
        frame
    };
    (0..count).map(frame).collect()
}

fn guided(frames: Vec<Frame>, settings: Settings, changes: &[Change]) -> Vec<Work> {
    let (mut guides, mut decided) = (Guides::default(), Vec::new());
    for frame in &frames {
        decided.extend(guides.push(measure(frame, frame.whole(), None).unwrap(), &settings));
    }
    decided.extend(guides.finish());
    let changes = changes.iter().map(|&change| if settings.smoothing.frames() > 1 { change } else { Change::None });
    let guided = frames.into_iter().zip(decided).zip(changes);
    guided.map(|((frame, guide), change)| Work::new(frame, settings).guided(Guide { change, ..guide })).collect()
}

fn results(backend: &mut dyn Executor, works: &[Work]) -> Vec<Equalized> {
    let mut results = Vec::new();
    for work in works {
        while backend.in_flight() >= backend.capacity() {
            results.extend(backend.collect().unwrap());
        }
        backend.submit(work.clone()).unwrap();
    }
    backend.finish().unwrap();
    while let Some(result) = backend.collect().unwrap() {
        results.push(result);
    }
    results
}

fn compare(what: &str, expected: &[Equalized], found: &[Equalized]) {
    assert_eq!(expected.len(), found.len(), "{what}");
    for (index, (expected, found)) in expected.iter().zip(found).enumerate() {
        if let Some(difference) = difference(&expected.frame, &found.frame) {
            panic!("{what}, frame {index}: {difference}");
        }
    }
}

#[test]
fn every_treatment_gives_the_bytes_of_the_reference_in_every_layout() {
    let backends = available();
    for (index, settings) in treatments().into_iter().enumerate() {
        for (turn, &format) in LAYOUTS.iter().enumerate() {
            let smoothing = windows()[(index + turn) % 3];
            let settings = Settings { smoothing, ..settings };
            let size = [(61, 34), (96, 20), (33, 47)][turn % 3];
            check(&backends, &video(format, size, settings, &CHANGES), &format!("{format} {size:?} {settings:?}"));
        }
    }
}

#[test]
fn every_treatment_gives_the_bytes_of_the_reference_with_every_window() {
    let backends = available();
    for settings in treatments() {
        for smoothing in windows() {
            for (format, size) in
                [(PixelFormat::Yuv420p, (64, 48)), (PixelFormat::Gray, (40, 30)), (PixelFormat::Rgb24, (35, 21))]
            {
                let settings = Settings { smoothing, ..settings };
                check(&backends, &video(format, size, settings, &CHANGES), &format!("{format} {settings:?}"));
            }
        }
    }
}

#[test]
fn every_format_has_its_levels_stretched_and_its_haze_and_casts_taken_off() {
    let backends = available();
    for (index, settings) in treatments().into_iter().enumerate() {
        for (turn, &format) in PixelFormat::ALL.iter().enumerate().filter(|(turn, _)| turn % 4 == index % 4) {
            let settings = Settings { smoothing: windows()[turn % 3], ..settings };
            check(&backends, &video(format, (37, 22), settings, &CHANGES[..5]), &format!("{format} {settings:?}"));
        }
    }
}

#[test]
fn a_row_of_chroma_may_cover_fewer_rows_of_luma_at_the_bottom() {
    let backends = available();
    for (format, height) in
        [PixelFormat::Yuv410p, PixelFormat::Yuv420p].into_iter().flat_map(|format| (21..25).map(move |y| (format, y)))
    {
        let works = video(format, (37, height), Settings::default(), &CHANGES[..5]);
        let works: Vec<Work> = works.into_iter().map(|work| work.applying(Mapping::Balance(BALANCE))).collect();
        check(&backends, &works, &format!("{format} {height}"));
    }
}

#[test]
fn rows_of_interlaced_frames_are_treated_with_the_chroma_of_their_own_field() {
    let backends = available();
    let formats = [
        PixelFormat::Yuv420p,
        PixelFormat::Yuv420p10le,
        PixelFormat::Nv12,
        PixelFormat::P010be,
        PixelFormat::Yuva420p,
        PixelFormat::Yuv440p,
        PixelFormat::Yuv410p,
        PixelFormat::Yuv422p,
    ];
    for (index, settings) in treatments().into_iter().enumerate() {
        for (turn, &format) in formats.iter().enumerate() {
            let settings = Settings { smoothing: windows()[turn % 3], ..settings };
            let size = (37, 21 + (index + turn) % 8);
            let mut frames = frames(format, size, settings, 6);
            frames.iter_mut().enumerate().for_each(|(number, frame)| frame.is_interlaced = number % 3 != 2);
            let works = guided(frames, settings, &CHANGES[..6]);
            check(&backends, &works, &format!("{format} {size:?} {settings:?}"));
            let given = works.into_iter().map(|work| work.applying(Mapping::Balance(BALANCE)));
            check(&backends, &given.collect::<Vec<Work>>(), &format!("{format} {size:?}, balanced"));
        }
    }
    for (format, height) in formats.into_iter().flat_map(|format| (1..10).map(move |height| (format, height))) {
        let mut frames = frames(format, (5, height), Settings::default(), 3);
        frames.iter_mut().for_each(|frame| frame.is_interlaced = true);
        let works = guided(frames, Settings::default(), &CHANGES[..3]).into_iter();
        let works = works.map(|work| work.applying(Mapping::Balance(BALANCE)));
        check(&backends, &works.collect::<Vec<Work>>(), &format!("{format}, {height} rows"));
    }
}

fn rows_of(plane: &Plane, rows: impl ExactSizeIterator<Item = usize>) -> Plane {
    let mut copy = HostPool::default().plane(plane.row_bytes(), rows.len());
    rows.enumerate().for_each(|(y, row)| copy.row_mut(y).copy_from_slice(plane.row(row)));
    copy.freeze()
}

#[test]
fn a_field_is_balanced_as_a_picture_of_its_own() {
    for format in [PixelFormat::Yuv420p, PixelFormat::Yuv420p10le, PixelFormat::Nv12, PixelFormat::P010le] {
        let mut frame = Picture::new(format, (37, 24)).make();
        let field = |frame: &Frame, first: usize| {
            let planes = frame.planes().iter().map(|plane| rows_of(plane, (first..plane.rows()).step_by(2))).collect();
            Frame::new(format, (37, 12), frame.range(), frame.matrix(), planes).expect("a field")
        };
        let value_of = |frame: &Frame| balanced(frame, &BALANCE, &HostPool::default());
        let progressive = value_of(&frame);
        frame.is_interlaced = true;
        let interlaced = value_of(&frame);
        assert!(difference(&progressive, &interlaced).is_some(), "{format}");
        for first in [0, 1] {
            assert_eq!(
                difference(&value_of(&field(&frame, first)), &field(&interlaced, first)),
                None,
                "{format} {first}"
            );
        }
    }
}

#[test]
fn points_of_interlaced_frames_have_the_chroma_of_their_own_field() {
    for (format, with_all_rows) in
        [(PixelFormat::Yuv420p, PixelFormat::Yuv422p), (PixelFormat::Yuv420p10le, PixelFormat::Yuv422p10le)]
    {
        for height in [1, 2, 5, 6, 23, 240] {
            let mut frame = Picture::new(format, (40, height)).make();
            frame.is_interlaced = true;
            let last = height.div_ceil(2) - 1;
            let chroma = |plane: &Plane| rows_of(plane, (0..height).map(|y| (2 * (y / 4) + y % 2).min(last)));
            let [luma, cb, cr] = frame.planes() else { panic!("three planes") };
            let planes = vec![luma.clone(), chroma(cb), chroma(cr)];
            let other =
                Frame::new(with_all_rows, (40, height), frame.range(), frame.matrix(), planes).expect("a frame");
            let [found, expected] = [&frame, &other].map(|frame| measure(frame, frame.whole(), None).unwrap());
            assert_eq!(found, expected, "{format}, {height} rows");
        }
    }
}

#[test]
fn large_pictures_are_treated_like_the_reference() {
    let backends = available();
    let formats =
        [PixelFormat::Yuv420p, PixelFormat::P010le, PixelFormat::Bgra, PixelFormat::Gray, PixelFormat::Gray12le];
    for (index, settings) in treatments().into_iter().enumerate() {
        let settings = Settings { smoothing: windows()[index % 3], ..settings };
        let format = formats[index % 5];
        check(&backends, &video(format, (1283, 721), settings, &CHANGES[..6]), &format!("{format} {settings:?}"));
    }
}

fn check(backends: &[Backend], works: &[Work], what: &str) {
    let expected = results(&mut Reference::default(), works);
    for backend in backends {
        compare(&format!("{}, {what}", backend.name), &expected, &results(backend.open(2).as_mut(), works));
    }
}

/// The mapping that the reference applies to each frame: that of its guide, or the curve of its histogram.
fn mappings(works: &[Work]) -> Vec<Mapping> {
    let curve_of = |work: &Work| {
        let applied = results(&mut Reference::default(), std::slice::from_ref(work)).remove(0).applied;
        let curve = Curve::from_codes(work.frame().levels(), applied.curves.unwrap().to_vec()).unwrap().into();
        Mapping::Curve { curve, chroma_gain: applied.chroma_gain.unwrap() }
    };
    works.iter().map(|work| work.guide().mapping.clone().unwrap_or_else(|| curve_of(work))).collect()
}

#[test]
fn what_is_given_to_a_frame_is_what_it_would_get_by_itself() {
    let backends = available();
    let tiled = |settings: &Settings| settings.method.grid().is_some();
    for (index, settings) in treatments().into_iter().filter(|settings| !tiled(settings)).enumerate() {
        for (turn, &format) in LAYOUTS.iter().enumerate() {
            let size = [(61, 34), (96, 20), (33, 47)][turn % 3];
            let works = video(format, size, settings, &CHANGES[..5]);
            let expected = results(&mut Reference::default(), &works);
            // With given mappings, the method and the window do not matter, only the setting of chroma does.
            let other = Settings { chroma: settings.chroma, ..treatments()[(index + turn) % 12] };
            let other = Settings { smoothing: windows()[turn % 2], ..other };
            let given = works.iter().zip(mappings(&works));
            let given = given.map(|(work, mapping)| Work::new(work.frame().clone(), other).applying(mapping));
            let given: Vec<Work> = given.map(Work::reporting_everything).collect();
            let what = format!("{format} {size:?} {settings:?}");
            let by_reference = results(&mut Reference::default(), &given);
            compare(&what, &expected, &by_reference);
            for backend in &backends {
                let found = results(backend.open(2).as_mut(), &given);
                compare(&format!("{}, {what}", backend.name), &expected, &found);
                for (expected, found) in by_reference.iter().zip(&found) {
                    let (expected, found) = (&expected.applied, &found.applied);
                    assert_eq!((&expected.curves, expected.chroma_gain), (&found.curves, found.chroma_gain), "{what}");
                    assert_eq!(expected.mapping, found.mapping, "{what}");
                    assert!(found.counts.is_none() && found.scene.is_none(), "{}, {what}", backend.name);
                }
            }
        }
    }
}

/// A mapping with extreme values.
fn extreme(levels: Levels, turn: usize) -> Mapping {
    let furthest = Balance::furthest_offset(levels) as i32;
    let [low, high] = [[0, MAX_GAIN], [MAX_GAIN; 2]][turn % 2];
    let balance = Balance { gains: [high, low, high], offsets: [furthest, -furthest, [furthest, 0][turn % 2]] };
    let points = ToneCurve::made_of(|index| ToneCurve::FURTHEST * [1, -1][(index + turn) % 2]);
    let then = Some(Toned { curve: points, light: [0, 1, light::FULL, light::MAX][turn % 4] });
    let taken = [[[0, 700, u32::MAX][turn % 3]; 8]; 8];
    let ceiling = [0, levels.count() as u32 - 1][turn % 2];
    let gains = [[low, high, high, low, 1, high, low, high]; 8];
    let transfer = [Transfer::Pq, Transfer::Hlg, Transfer::Sdr][turn % 3];
    let peak = [[0; 2], [MAX_PEAK; 2], [MAX_PEAK, 0], [1, MAX_PEAK]][turn % 4];
    let in_light = (turn % 7 < 4).then_some(InLight { transfer, peak });
    let veil = Veil { taken, gains, chroma: gains, then: then.filter(|_| !turn.is_multiple_of(5)), in_light, ceiling };
    match turn % 3 {
        0 => Mapping::Balance(balance),
        1 => Mapping::Veil(veil.into()),
        _ => Mapping::Balanced { balance, then: Mapping::Veil(veil.into()).into() },
    }
}

#[test]
fn numbers_at_their_limits_overflow_nowhere() {
    let backends = available();
    for (turn, &format) in LAYOUTS.iter().chain(&[PixelFormat::Yuv444p16le]).enumerate() {
        let works = video(format, (37, 22), Settings { chroma: Chroma::Follow, ..Settings::default() }, &CHANGES[..6]);
        let given = works.into_iter().enumerate().map(|(index, work)| {
            let levels = work.frame().levels();
            let strength = Strength::from_256ths([256, 100, 1, 255][(index / 3 + turn) % 4]);
            work.applying(extreme(levels, index + turn).with_strength(levels, strength))
        });
        check(&backends, &given.collect::<Vec<Work>>(), &format.to_string());
    }
}

const BALANCE: Balance = Balance { gains: [4000, 5000, 6000], offsets: [-100, 0, 300] };

#[test]
fn what_is_given_in_between_leaves_no_trace() {
    let backends = available();
    for settings in treatments() {
        let settings = Settings { smoothing: windows()[1], ..settings };
        let works = video(PixelFormat::Yuv420p, (64, 48), settings, &CHANGES);
        let levels = works[0].frame().levels();
        let steps = (0..levels.codes()).map(|code| (code / 3) as u16).collect();
        let curve = Mapping::Curve { curve: Curve::from_codes(levels, steps).unwrap().into(), chroma_gain: 6000 };
        let (taken, gains, chroma) = ([[300; 8]; 8], [[5000; 8]; 8], [[4500; 8]; 8]);
        let veil = Mapping::Veil(Veil { taken, gains, chroma, then: None, in_light: None, ceiling: 255 }.into());
        let of_curve = Mapping::Balanced { balance: BALANCE, then: curve.clone().into() };
        let of_veil = Mapping::Balanced { balance: BALANCE, then: veil.clone().into() };
        let given = [curve.clone(), veil, Mapping::Balance(BALANCE), of_veil, of_curve, curve];
        let apply = |work: &Work, index: usize| work.clone().applying(given[index % given.len()].clone());
        // Frames with given mappings are inserted between the others, sometimes two in a row.
        let mixed = works.iter().enumerate();
        let mixed = mixed.flat_map(|(index, work)| {
            let extra = (index % 3 != 0).then(|| apply(work, index));
            extra.into_iter().chain([work.clone()]).chain((index % 5 == 0).then(|| apply(work, index + 1)))
        });
        let mixed: Vec<Work> = mixed.collect();
        let expected = results(&mut Reference::default(), &mixed);
        let alone: Vec<Equalized> = expected
            .iter()
            .zip(&mixed)
            .filter(|(_, work)| matches!(work.role(), Role::Equalize))
            .map(|(one, _)| one.clone())
            .collect();
        compare("reference", &results(&mut Reference::default(), &works), &alone);
        for backend in &backends {
            compare(&format!("{}, {settings:?}", backend.name), &expected, &results(backend.open(2).as_mut(), &mixed));
        }
    }
}

#[test]
fn what_is_told_of_frames_is_what_the_reference_tells() {
    for backend in available() {
        for settings in treatments() {
            for smoothing in windows() {
                let works = video(PixelFormat::Yuv420p, (64, 48), Settings { smoothing, ..settings }, &CHANGES);
                let works: Vec<Work> = works.into_iter().map(Work::reporting_everything).collect();
                let expected = results(&mut Reference::default(), &works);
                let found = results(backend.open(2).as_mut(), &works);
                let what = format!("{}, {settings:?}, {smoothing:?}", backend.name);
                compare(&what, &expected, &found);
                for (index, (expected, found)) in expected.iter().zip(&found).enumerate() {
                    let (expected, found) = (&expected.applied, &found.applied);
                    assert_eq!(expected.counts, found.counts, "{what}, counts of frame {index}");
                    assert_eq!(expected.scene, found.scene, "{what}, scene of frame {index}");
                    assert_eq!(expected.curves, found.curves, "{what}, curves of frame {index}");
                    assert_eq!(expected.chroma_gain, found.chroma_gain, "{what}, gain of frame {index}");
                    assert_eq!(expected.mapping, found.mapping, "{what}, mapping of frame {index}");
                    assert_eq!(found.mapping.is_none(), settings.method.counts(), "{what}");
                }
                let given = works.iter().zip(&found).filter_map(|(work, found)| {
                    Some(Work::new(work.frame().clone(), settings).applying(found.applied.mapping.clone()?))
                });
                let again = results(backend.open(2).as_mut(), &given.collect::<Vec<Work>>());
                compare(&format!("{what}, given"), if again.is_empty() { &[] } else { &expected }, &again);
            }
        }
    }
}

#[test]
fn a_backend_goes_on_where_another_one_was() {
    for backend in available() {
        for settings in treatments() {
            for smoothing in windows() {
                let works = video(PixelFormat::Nv12, (50, 40), Settings { smoothing, ..settings }, &CHANGES);
                let expected = results(&mut Reference::default(), &works);
                for first in [1, 3, 7, 12] {
                    let mut next = backend.open(2);
                    for (work, before) in works[..first].iter().zip(&expected) {
                        let (settings, guide) = (*work.settings(), work.guide().clone());
                        let counts = before.applied.counts.clone().expect("the reference tells them");
                        next.remember(&Remembered { counts, settings, guide, scene: before.applied.scene }).unwrap();
                    }
                    let found = results(next.as_mut(), &works[first..]);
                    compare(
                        &format!("{}, {settings:?}, {smoothing:?}, from {first}", backend.name),
                        &expected[first..],
                        &found,
                    );
                    let scenes = |all: &[Equalized]| all.iter().map(|one| one.applied.scene).collect::<Vec<_>>();
                    assert_eq!(
                        scenes(&expected[first..]),
                        scenes(&found),
                        "{}, {settings:?}, from {first}",
                        backend.name
                    );
                }
            }
        }
    }
}

#[test]
fn frames_that_only_warm_up_count_in_the_windows_of_those_that_follow() {
    for backend in available() {
        for settings in treatments() {
            for smoothing in windows() {
                let works = video(PixelFormat::Yuv444p, (41, 30), Settings { smoothing, ..settings }, &CHANGES);
                let warmed: Vec<Work> = works[..6].iter().cloned().map(Work::warming_up).collect();
                let all: Vec<Work> = warmed.into_iter().chain(works[6..].iter().cloned()).collect();
                let expected = results(&mut Reference::default(), &all);
                let what = format!("{}, {settings:?}, {smoothing:?}", backend.name);
                compare(&what, &expected, &results(backend.open(2).as_mut(), &all));
            }
        }
    }
}

#[test]
fn treatments_that_change_between_frames_do_so_everywhere() {
    let treatments = treatments();
    // Neighbouring videos differ in size, so no video depends on the one before it.
    let videos: Vec<Vec<Work>> = (0..24)
        .map(|index| {
            let smoothing = windows()[(index / 2) % 3];
            let settings = Settings { smoothing, ..treatments[index * 5 % treatments.len()] };
            let format = [PixelFormat::Yuv420p, PixelFormat::Gray10le][index / 9 % 2];
            video(format, [(40, 32), (33, 20)][index % 2], settings, &CHANGES[index % 3..][..4])
        })
        .collect();
    let expected: Vec<_> = videos.iter().flat_map(|works| results(&mut Reference::default(), works)).collect();
    let works = videos.concat();
    compare("reference", &expected, &results(&mut Reference::default(), &works));
    for backend in available() {
        compare(&backend.name, &expected, &results(backend.open(3).as_mut(), &works));
    }
}

/// The output of a stage that measures on `threads` threads. The first two frames only warm it up.
fn by_stage(frames: &[Frame], settings: Settings, threads: usize, as_they_come: bool) -> Vec<Frame> {
    let mut stage = EqualizeStage::new(Box::new(Reference::default()), settings).measuring_on(threads);
    let mut done = Vec::new();
    for (index, frame) in frames.iter().enumerate() {
        if index < 2 {
            stage.warm_up(frame.clone()).unwrap();
            continue;
        }
        while !stage.has_room() || (as_they_come && stage.in_flight() > 0) {
            done.extend(stage.collect().unwrap().map(|equalized| equalized.frame));
        }
        stage.submit(frame.clone()).unwrap();
    }
    stage.finish().unwrap();
    while stage.in_flight() > 0 {
        done.extend(stage.collect().unwrap().map(|equalized| equalized.frame));
    }
    done
}

#[test]
fn frames_that_are_measured_on_other_threads_come_out_the_same_and_in_order() {
    for settings in treatments() {
        for smoothing in windows() {
            let settings = Settings { smoothing, ..settings };
            let works = video(PixelFormat::Yuv420p, (64, 48), settings, &CHANGES);
            let frames: Vec<Frame> = works.iter().map(|work| work.frame().clone()).collect();
            let expected = by_stage(&frames, settings, 0, false);
            assert_eq!(expected.len(), frames.len() - 2);
            for (threads, as_they_come) in [(0, true), (1, false), (3, false), (3, true)] {
                let found = by_stage(&frames, settings, threads, as_they_come);
                assert_eq!(found.len(), expected.len(), "{settings:?}, {threads} threads");
                for (index, (expected, found)) in expected.iter().zip(&found).enumerate() {
                    assert_eq!(difference(expected, found), None, "frame {index}, {settings:?}, {threads} threads");
                }
            }
        }
    }
}

/// A scene with texture, in YUV 4:2:0 of 8 bits; `light` gives its light in a row of a frame, 1 as it is.
fn lit(frames: usize, light: impl Fn(usize, f64) -> f64) -> Vec<Frame> {
    let (width, height) = (128, 72);
    let plane = |(width, height): (usize, usize), sample: &dyn Fn(usize, usize) -> f64| {
        let mut plane = HostPool::default().plane(width, height);
        (0..height).for_each(|y| {
            plane.row_mut(y).iter_mut().enumerate().for_each(|(x, byte)| *byte = (sample(x, y) + 0.5) as u8);
        });
        plane.freeze()
    };
    let frame = |frame: usize| {
        let luma = |x: usize, y: usize| {
            let level = 60.0 + 0.7 * x as f64 + 0.4 * y as f64 + ((x * 37 + y * 91) % 40) as f64;
            16.0 + (level * light(frame, y as f64 / height as f64)).min(219.0)
        };
        let chroma = |x: usize, _: usize| 118.0 + (x % 20) as f64;
        let half = (width / 2, height / 2);
        let planes = vec![plane((width, height), &luma), plane(half, &chroma), plane(half, &chroma)];
        Frame::new(PixelFormat::Yuv420p, (width, height), Range::Limited, Matrix::Bt709, planes).expect("a frame")
    };
    (0..frames).map(frame).collect()
}

/// The mean change of the rows of frames from frame to frame, in octaves.
fn unsteadiness(frames: impl Iterator<Item = Frame>) -> f64 {
    let mean = |bytes: &[u8]| bytes.iter().map(|byte| f64::from(*byte) - 16.0).sum::<f64>() / bytes.len() as f64;
    let rows: Vec<Vec<f64>> =
        frames.map(|frame| (0..72).map(|y| mean(frame.planes()[0].row(y)).max(1.0).log2()).collect()).collect();
    let steps = rows.windows(2).flat_map(|pair| pair[0].iter().zip(&pair[1]).map(|(a, b)| (b - a).abs()));
    let steps: Vec<f64> = steps.collect();
    steps.iter().sum::<f64>() / steps.len() as f64
}

#[test]
fn natural_evens_out_what_flickers_and_leaves_light_that_is_meant_to_change() {
    let natural = Method::Natural { assumed: Assumed::Nothing, most: Gain::OFF, faithful: false };
    let smoothing = Smoothing::new(100, 6).looking_ahead(25);
    let settings = Settings { method: natural, smoothing, chroma: Chroma::Follow, ..Settings::default() };
    let wavers = |frame: usize| 1.0 + 0.12 * [0.5, -1.0, 0.2, 0.9, -0.6, 0.1, -0.8, 1.0][frame % 8];
    let flame = |frame: usize| 1.0 + 0.4 * ((frame * frame * 7 % 23) as f64 / 11.0 - 1.0);
    let rolls = |frame: usize, y: f64| 1.0 + 0.1 * (std::f64::consts::TAU * (y - frame as f64 / 7.0)).sin();
    let backends = available();
    // What changes, its light, and whether that flickers.
    type Light = Box<dyn Fn(usize, f64) -> f64>;
    let cases: [(&str, Light, bool); 8] = [
        ("film", Box::new(move |frame, _| wavers(frame)), true),
        ("film in the dark", Box::new(move |frame, _| wavers(frame) / 6.0), true),
        ("a lamp", Box::new(rolls), true),
        ("a candle", Box::new(move |frame, y| 0.1 + 0.08 * (-20.0 * y * y).exp() * flame(frame)), false),
        ("a fade", Box::new(|frame, _| 1.0 - 0.02 * (frame as f64 - 8.0).clamp(0.0, 40.0)), false),
        ("lightning", Box::new(|frame, _| if frame % 16 == 9 { 1.7 } else { 1.0 }), false),
        ("dusk", Box::new(|frame, _| 1.0 - 0.004 * frame as f64), false),
        ("a tilt", Box::new(|frame, y| 1.0 + 0.2 * (6.0 * y + frame as f64 / 40.0).sin()), false),
    ];
    for (what, light, flickers) in cases {
        let frames = lit(56, light);
        let before = unsteadiness(frames.iter().cloned());
        let works = guided(frames, settings, &[Change::None; 56]);
        check(&backends, &works, what);
        let found: Vec<i32> = works.iter().map(|work| work.guide().found.map_or(0, |found| found.flicker)).collect();
        let after = unsteadiness(results(&mut Reference::default(), &works).into_iter().map(|result| result.frame));
        if flickers {
            assert!(found.iter().all(|share| *share > 3500), "{what}: {found:?}");
            assert!(after < 0.3 * before, "{what}: {after} of {before}");
        } else {
            assert!(found.iter().all(|share| *share == 0), "{what}: {found:?}");
            assert!(after > 0.6 * before, "{what}: {after} of {before}");
        }
    }
}
