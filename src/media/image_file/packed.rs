//! Finds PNG files whose compressed metadata (colour profile, texts, XMP) is too large: a few bytes may unpack to
//! gigabytes.

use flate2::bufread::ZlibDecoder;
use std::io::{BufRead, BufReader, Read, Result, Seek};

/// The most bytes that the metadata of a file may unpack to: more than cameras and programs write.
pub const MAX_UNPACKED: usize = 16 << 20;

/// Whether the metadata of the PNG file `file`, which is read to its end, unpacks to more than [`MAX_UNPACKED`]; false
/// for another file.
pub fn unpacks_to_too_much(file: impl Read + Seek) -> bool {
    let (mut file, mut first) = (BufReader::new(file), [0; 8]);
    let is_png = file.read_exact(&mut first).is_ok() && first == *b"\x89PNG\r\n\x1a\n";
    let mut bytes = 0;
    while is_png && bytes <= MAX_UNPACKED {
        match next_chunk(&mut file, MAX_UNPACKED + 1 - bytes) {
            Ok(Some(unpacked)) => bytes += unpacked,
            Ok(None) | Err(_) => break,
        }
    }
    bytes > MAX_UNPACKED
}

/// How many bytes the next chunk unpacks to, up to `most`; `None` at the end.
fn next_chunk(file: &mut BufReader<impl Read + Seek>, most: usize) -> Result<Option<usize>> {
    let mut head = [0; 8];
    file.read_exact(&mut head)?;
    let [a, b, c, d, kind @ ..] = head;
    let mut chunk = file.take(u32::from_be_bytes([a, b, c, d]).into());
    let unpacked = match &kind {
        b"IEND" => return Ok(None),
        b"iCCP" | b"zTXt" => {
            // Skips the name and the compression method.
            chunk.skip_until(0)?;
            chunk.read_exact(&mut [0])?;
            unpacked(&mut chunk, most)
        }
        b"iTXt" => {
            let mut packed = [0; 2];
            chunk.skip_until(0)?;
            chunk.read_exact(&mut packed)?;
            // Skips the language, and the name in that language.
            chunk.skip_until(0)?;
            chunk.skip_until(0)?;
            if packed[0] == 0 { 0 } else { unpacked(&mut chunk, most) }
        }
        _ => 0,
    };
    // Skips the rest of the chunk, and its checksum of 4 bytes.
    let rest = chunk.limit() as i64 + 4;
    file.seek_relative(rest)?;
    Ok(Some(unpacked))
}

/// How many bytes this unpacks to, up to `most`.
fn unpacked(packed: impl BufRead, most: usize) -> usize {
    let (mut source, mut bytes, mut part) = (ZlibDecoder::new(packed), 0, [0; 1 << 14]);
    while let Ok(count @ 1..) = source.read(&mut part) {
        bytes += count;
        if bytes >= most {
            break;
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::read::ZlibEncoder;
    use std::io::Cursor;

    fn png(kind: &[u8], name: &[u8], bytes: usize) -> Cursor<Vec<u8>> {
        let mut packed = name.to_vec();
        ZlibEncoder::new(std::io::repeat(7).take(bytes as u64), Compression::best())
            .read_to_end(&mut packed)
            .expect("packed bytes");
        let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
        for (kind, chunk) in [(&b"IHDR"[..], &[0; 13][..]), (kind, &packed), (b"IDAT", &[0; 99])] {
            file.extend([&(chunk.len() as u32).to_be_bytes(), kind, chunk, &[0; 4]].concat());
        }
        Cursor::new(file)
    }

    #[test]
    fn what_unpacks_to_more_than_an_image_has_is_found() {
        let begin = [(&b"iCCP"[..], &b"profile\0\0"[..]), (b"zTXt", b"XML:com.adobe.xmp\0\0")];
        for (kind, name) in begin.into_iter().chain([(&b"iTXt"[..], &b"XML:com.adobe.xmp\0\x01\0en\0name\0"[..])]) {
            assert!(unpacks_to_too_much(png(kind, name, MAX_UNPACKED + 1)));
            assert!(!unpacks_to_too_much(png(kind, name, MAX_UNPACKED)));
        }
        assert!(!unpacks_to_too_much(png(b"iTXt", b"name\0\0\0\0\0", MAX_UNPACKED + 1)), "it is not packed");
        let mut together = png(b"iCCP", b"profile\0\0", MAX_UNPACKED / 2).into_inner();
        together.extend(&png(b"zTXt", b"text\0\0", MAX_UNPACKED / 2 + 1).into_inner()[8..]);
        assert!(unpacks_to_too_much(Cursor::new(together)));
    }
}
