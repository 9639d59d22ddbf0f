//! The structures that `src/core/build.rs` generates from `kernels/headers/arguments.cuh` have the memory layout of the
//! kernels' structures: a C++ compiler checks each field.

use crate::host_program::Program;
use histeq::internal::cuda::STRUCTURES;
use std::collections::BTreeSet;

const ARGUMENTS: &str = include_str!("../../../kernels/headers/arguments.cuh");

#[test]
fn structures_that_kernels_take_lie_in_memory_as_those_of_the_launchers() {
    let mut program =
        "#include <cstddef>\n#include \"arguments.cuh\"\nusing namespace histeq;\nint main() {}\n".to_owned();
    for structure in STRUCTURES {
        let name = structure.name;
        program += &format!("static_assert(sizeof({name}) == {}, \"{name}\");\n", structure.bytes);
        for field in structure.fields {
            let (place, offset, bytes) = (format!("{name}, {}", field.name), field.offset, field.bytes);
            program += &format!("static_assert(offsetof({place}) == {offset}, \"where {place} lies\");\n");
            program +=
                &format!("static_assert(sizeof({name}::{}) == {bytes}, \"the bytes of {place}\");\n", field.name);
        }
        // The fields fill the structure, and the kernels' structure has the same size, so it has no further field.
        assert_eq!(structure.bytes, structure.fields.iter().map(|field| field.bytes).sum::<usize>(), "{name}");
    }
    Program::new(&[("arguments.cuh", ARGUMENTS), ("main.cpp", &program)], &[]);
}

#[test]
fn every_structure_of_the_kernels_is_compared() {
    let declared = ARGUMENTS.lines().filter_map(|line| line.strip_prefix("struct ")?.strip_suffix(" {"));
    let compared = STRUCTURES.iter().map(|structure| structure.name);
    assert_eq!(declared.collect::<BTreeSet<_>>(), compared.collect());
}
