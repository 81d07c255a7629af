//! As much of HTTP/1.1 as the programs speak that talk to the servers of these tests, read within bounds.

use std::io::{self, BufRead, Read as _, Write};

/// How long one line of a request may be.
const MAX_LINE: u64 = 64 * 1024;
/// How many header lines a request may have.
const MAX_HEADERS: usize = 200;
/// How long a request's body may be. A whole conversation comes with every request.
const MAX_BODY: usize = 64 * 1024 * 1024;

/// A request, read to its end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) method: String,
    /// Without the query.
    pub(crate) path: String,
    /// With names in lower case.
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        header(&self.headers, name)
    }

    /// Whether the client wants no second request on this connection.
    pub(crate) fn is_last(&self) -> bool {
        has_token(self.header("connection"), "close")
    }
}

/// Why there is no request.
#[derive(Debug)]
pub(crate) enum Unread {
    /// The client has no more.
    Closed,
    /// What came is no request that we take.
    Refused(u16, &'static str),
    /// The connection broke.
    Broken(io::Error),
}

impl From<io::Error> for Unread {
    fn from(error: io::Error) -> Self {
        Self::Broken(error)
    }
}

/// Reads the next request; `writer` is told when the client waits for a word before it sends the body.
pub(crate) fn read(reader: &mut impl BufRead, writer: &mut impl Write) -> Result<Request, Unread> {
    let Some(first) = first_line(reader)? else {
        return Err(Unread::Closed);
    };
    let (method, path) = start(&first)?;
    let headers = read_headers(reader)?;
    if header(&headers, "content-encoding").is_some_and(|encoding| encoding != "identity") {
        return Err(Unread::Refused(415, "compressed bodies are not read"));
    }
    let length = body_length(&headers)?;
    if has_token(header(&headers, "expect"), "100-continue") {
        writer.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    let body = match length {
        Length::Known(length) => read_exactly(reader, length)?,
        Length::Chunked => read_chunks(reader)?,
    };
    Ok(Request {
        method,
        path,
        headers,
        body,
    })
}

/// The first line that is not empty, or nothing when the client is done. A few empty ones are tolerated.
fn first_line(reader: &mut impl BufRead) -> Result<Option<String>, Unread> {
    for _ in 0..4 {
        match read_line(reader)? {
            None => return Ok(None),
            Some(line) if line.is_empty() => {}
            Some(line) => return Ok(Some(line)),
        }
    }
    Err(Unread::Refused(400, "empty lines instead of a request"))
}

/// Method and path.
fn start(line: &str) -> Result<(String, String), Unread> {
    let words: Vec<&str> = line.split(' ').collect();
    let [method, target, version] = words[..] else {
        return Err(Unread::Refused(400, "the first line is no request"));
    };
    if version != "HTTP/1.1" {
        return Err(Unread::Refused(505, "only HTTP/1.1 is spoken"));
    }
    let path = target.split(['?', '#']).next().unwrap_or_default();
    Ok((method.to_owned(), path.to_owned()))
}

fn read_headers(reader: &mut impl BufRead) -> Result<Vec<(String, String)>, Unread> {
    let mut headers = Vec::new();
    loop {
        let line = read_line(reader)?.ok_or(Unread::Closed)?;
        if line.is_empty() {
            return Ok(headers);
        }
        if headers.len() == MAX_HEADERS {
            return Err(Unread::Refused(431, "too many headers"));
        }
        let Some((name, value)) = line.split_once(':') else {
            return Err(Unread::Refused(400, "a header without a colon"));
        };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
}

fn header<'headers>(headers: &'headers [(String, String)], name: &str) -> Option<&'headers str> {
    let found = headers.iter().find(|(key, _)| key == name);
    found.map(|(_, value)| value.as_str())
}

fn has_token(value: Option<&str>, token: &str) -> bool {
    let mut tokens = value.into_iter().flat_map(|value| value.split(','));
    tokens.any(|found| found.trim().eq_ignore_ascii_case(token))
}

enum Length {
    Known(usize),
    Chunked,
}

fn body_length(headers: &[(String, String)]) -> Result<Length, Unread> {
    let mut lengths = headers.iter().filter(|(name, _)| name == "content-length");
    match (header(headers, "transfer-encoding"), lengths.next()) {
        (None, None) => Ok(Length::Known(0)),
        (Some(_), Some(_)) => Err(Unread::Refused(400, "two lengths of one body")),
        (Some(coding), None) if coding.eq_ignore_ascii_case("chunked") => Ok(Length::Chunked),
        (Some(_), None) => Err(Unread::Refused(501, "an unknown transfer coding")),
        (None, Some(_)) if lengths.next().is_some() => {
            Err(Unread::Refused(400, "two lengths of one body"))
        }
        (None, Some((_, text))) => match text.parse() {
            Ok(length) if length <= MAX_BODY => Ok(Length::Known(length)),
            Ok(_) => Err(Unread::Refused(413, "the body is too long")),
            Err(_) => Err(Unread::Refused(400, "the length is no number")),
        },
    }
}

fn read_chunks(reader: &mut impl BufRead) -> Result<Vec<u8>, Unread> {
    let mut body = Vec::new();
    loop {
        let line = read_line(reader)?.ok_or(Unread::Closed)?;
        let size = line.split(';').next().unwrap_or_default().trim();
        let size = usize::from_str_radix(size, 16);
        let size = size.map_err(|_| Unread::Refused(400, "a chunk without a size"))?;
        if size > MAX_BODY - body.len() {
            return Err(Unread::Refused(413, "the body is too long"));
        }
        if size == 0 {
            read_headers(reader)?;
            return Ok(body);
        }
        body.extend(read_exactly(reader, size)?);
        if read_line(reader)?.is_none_or(|line| !line.is_empty()) {
            return Err(Unread::Refused(400, "a chunk that does not end"));
        }
    }
}

/// Memory is taken as bytes come, not as they are announced.
fn read_exactly(reader: &mut impl BufRead, length: usize) -> Result<Vec<u8>, Unread> {
    let mut bytes = Vec::new();
    reader.take(length as u64).read_to_end(&mut bytes)?;
    if bytes.len() < length {
        return Err(Unread::Closed);
    }
    Ok(bytes)
}

/// A line without its end; nothing at the end of the stream.
fn read_line(reader: &mut impl BufRead) -> Result<Option<String>, Unread> {
    let mut line = Vec::new();
    reader.take(MAX_LINE).read_until(b'\n', &mut line)?;
    if line.is_empty() {
        return Ok(None);
    }
    if line.pop() != Some(b'\n') {
        return Err(Unread::Refused(
            431,
            "a line that is too long, or that does not end",
        ));
    }
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    let line = String::from_utf8(line);
    line.map(Some)
        .map_err(|_| Unread::Refused(400, "a line that is not UTF-8"))
}

/// Writes a whole answer.
pub(crate) fn write_whole(
    writer: &mut impl Write,
    status: u16,
    headers: &[(&str, String)],
    body: &[u8],
) -> io::Result<()> {
    let mut answer = head(status, headers);
    answer.extend(format!("content-length: {}\r\n\r\n", body.len()).bytes());
    answer.extend(body);
    writer.write_all(&answer)
}

/// Begins an answer that comes in pieces.
pub(crate) fn begin_stream(writer: &mut impl Write) -> io::Result<()> {
    let kind = ("content-type", "text/event-stream".to_owned());
    let mut answer = head(200, &[kind]);
    answer.extend(b"transfer-encoding: chunked\r\n\r\n");
    writer.write_all(&answer)
}

/// Writes one piece of an answer, which is not empty.
pub(crate) fn write_piece(writer: &mut impl Write, piece: &[u8]) -> io::Result<()> {
    let mut chunk = format!("{:x}\r\n", piece.len()).into_bytes();
    chunk.extend(piece);
    chunk.extend(b"\r\n");
    writer.write_all(&chunk)
}

/// Ends an answer that came in pieces.
pub(crate) fn end_stream(writer: &mut impl Write) -> io::Result<()> {
    writer.write_all(b"0\r\n\r\n")
}

fn head(status: u16, headers: &[(&str, String)]) -> Vec<u8> {
    let mut head = format!("HTTP/1.1 {status} {}\r\n", reason(status)).into_bytes();
    for (name, value) in headers {
        head.extend(format!("{name}: {value}\r\n").bytes());
    }
    head
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        529 => "Overloaded",
        _ => "Refused",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(text: &[u8]) -> (Result<Request, Unread>, String) {
        let mut told = Vec::new();
        let request = read(&mut &text[..], &mut told);
        (request, String::from_utf8(told).unwrap())
    }

    #[track_caller]
    fn body(text: &str) -> String {
        let request = read_all(text.as_bytes()).0.unwrap();
        String::from_utf8(request.body).unwrap()
    }

    #[track_caller]
    fn refused(text: &[u8]) -> u16 {
        match read_all(text).0 {
            Err(Unread::Refused(status, _)) => status,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_request_is_read_to_its_end() {
        let text = "POST /a/b?c=d HTTP/1.1\r\nX-One:  1 \r\nContent-Length: 3\r\n\r\nabcREST";
        let request = read_all(text.as_bytes()).0.unwrap();
        assert_eq!(
            (request.method.as_str(), request.path.as_str()),
            ("POST", "/a/b")
        );
        assert_eq!(
            (request.header("x-one"), request.body.as_slice()),
            (Some("1"), &b"abc"[..])
        );
        assert!(!request.is_last());
        let last = read_all(b"\r\nHEAD / HTTP/1.1\nConnection: foo, Close\n\n").0;
        assert!(last.unwrap().is_last());
    }

    #[test]
    fn a_body_may_come_in_chunks() {
        let head = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
        assert_eq!(
            body(&format!(
                "{head}3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n"
            )),
            "abc0123456789"
        );
        assert_eq!(body(&format!("{head}0\r\n\r\n")), "");
        for rest in ["x\r\n", "-1\r\n", "3\r\nabcd\r\n0\r\n\r\n"] {
            assert_eq!(refused(format!("{head}{rest}").as_bytes()), 400, "{rest}");
        }
        assert_eq!(refused(format!("{head}ffffffff\r\n").as_bytes()), 413);
        for cut in ["", "3\r\nab", "3\r\nabc\r\n0\r\n"] {
            let read = read_all(format!("{head}{cut}").as_bytes()).0;
            assert!(matches!(read, Err(Unread::Closed)), "{cut}: {read:?}");
        }
    }

    #[test]
    fn who_waits_for_a_word_gets_it() {
        let text = "POST / HTTP/1.1\r\nExpect: 100-Continue\r\nContent-Length: 1\r\n\r\nx";
        let (request, told) = read_all(text.as_bytes());
        assert_eq!(
            (request.unwrap().body.len(), told.as_str()),
            (1, "HTTP/1.1 100 Continue\r\n\r\n")
        );
    }

    #[test]
    fn what_is_no_request_is_refused() {
        let with = |header: &str| format!("POST / HTTP/1.1\r\n{header}\r\n\r\n").into_bytes();
        assert_eq!(refused(b"\x16\x03\x01\x02\n"), 400);
        assert_eq!(refused(b"\xff\xfe\n"), 400);
        assert_eq!(refused(b"\n\n\n\n\n"), 400);
        assert_eq!(refused(b"GET / HTTP/2\r\n"), 505);
        assert_eq!(refused(b"GET / HTTP/1.0\r\n\r\n"), 505);
        assert_eq!(refused(&with("no colon")), 400);
        assert_eq!(refused(&with("Content-Length: x")), 400);
        assert_eq!(refused(&with("Content-Length: -1")), 400);
        assert_eq!(
            refused(&with("Content-Length: 1\r\nContent-Length: 2")),
            400
        );
        assert_eq!(
            refused(&with("Content-Length: 1\r\nTransfer-Encoding: chunked")),
            400
        );
        assert_eq!(refused(&with("Transfer-Encoding: gzip")), 501);
        assert_eq!(refused(&with("Content-Encoding: zstd")), 415);
        assert_eq!(refused(&with("Content-Length: 99999999999")), 413);
        assert_eq!(refused(&vec![b'a'; 100_000]), 431);
        assert_eq!(refused(&with(&"a: b\r\n".repeat(300))), 431);
    }

    #[test]
    fn an_early_end_is_no_request() {
        for text in [
            "",
            "GET / HTTP/1.1\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nabc",
        ] {
            let read = read_all(text.as_bytes()).0;
            assert!(matches!(read, Err(Unread::Closed)), "{text}: {read:?}");
        }
    }
}
