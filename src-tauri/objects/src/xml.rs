//! **Pure.** Reads the replies of S3: pages of a listing, and errors.
use quick_xml::Reader;
use quick_xml::events::{BytesRef, Event};

/// Maximum depth of elements; real replies have three.
const DEEPEST: usize = 16;
/// Maximum length of a mark of a version, and of a key, in bytes; longer marks are not used.
const LONGEST_MARK: usize = 256;
const LONGEST_KEY: usize = 4_096;

/// Listed object.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Listed {
    pub(crate) key: String,
    /// Mark of the version; empty if the server lists none.
    pub(crate) etag: String,
    pub(crate) size: u64,
    /// Time of the last change in milliseconds since 1970; 0 if unknown.
    pub(crate) modified_ms: i64,
}

/// Page of a listing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct ListPage {
    pub(crate) objects: Vec<Listed>,
    /// Folders, where keys were grouped by `/`.
    pub(crate) folders: Vec<String>,
    /// True if more follows.
    pub(crate) truncated: bool,
}

/// Error in a reply.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct ErrorBody {
    pub(crate) code: String,
    pub(crate) region: Option<String>,
}

/// Reads a page; `None` if the text is none.
pub(crate) fn page(text: &str) -> Option<ListPage> {
    let mut page = ListPage::default();
    let (mut encoded, mut truncated, mut goes_on) = (false, None, false);
    let mut object = Listed::default();
    walk(text, |path, value| match path {
        ["ListBucketResult", "IsTruncated"] => {
            truncated = value.trim().to_ascii_lowercase().parse().ok();
        }
        ["ListBucketResult", "NextContinuationToken"] => goes_on = !value.trim().is_empty(),
        ["ListBucketResult", "EncodingType"] => encoded = value == "url",
        ["ListBucketResult", "CommonPrefixes", "Prefix"] => page.folders.push(value.to_owned()),
        ["ListBucketResult", "Contents", "Key"] => value.clone_into(&mut object.key),
        ["ListBucketResult", "Contents", "ETag"] if value.len() <= LONGEST_MARK => {
            value.clone_into(&mut object.etag);
        }
        ["ListBucketResult", "Contents", "Size"] => object.size = value.parse().unwrap_or(u64::MAX),
        ["ListBucketResult", "Contents", "LastModified"] => {
            let time = value.parse::<jiff::Timestamp>();
            object.modified_ms = time.map_or(0, jiff::Timestamp::as_millisecond);
        }
        ["ListBucketResult", "Contents"] => page.objects.push(std::mem::take(&mut object)),
        _ => {}
    })
    .filter(|root| root == "ListBucketResult")?;
    // Servers that do not say it name where to go on.
    page.truncated = truncated.unwrap_or(goes_on);
    if encoded {
        for object in &mut page.objects {
            object.key = decoded(&object.key)?;
        }
        for folder in &mut page.folders {
            *folder = decoded(folder)?;
        }
    }
    Some(page).filter(|page| page.objects.iter().all(|object| object.key.len() <= LONGEST_KEY))
}

/// Reads an error; empty if the text is none.
pub(crate) fn error(text: &str) -> ErrorBody {
    let mut error = ErrorBody::default();
    let _ = walk(text, |path, value| match path {
        ["Error", "Code"] => value.clone_into(&mut error.code),
        ["Error", "Region"] => error.region = Some(value.to_owned()),
        _ => {}
    });
    error
}

/// Calls `end` at the end of each element with its path and text. Returns the name of the outermost
/// element; `None` if the text is not well-formed.
fn walk(text: &str, mut end: impl FnMut(&[&str], &str)) -> Option<String> {
    let mut reader = Reader::from_str(text);
    let mut names: Vec<String> = Vec::new();
    let mut value = String::new();
    let mut root = None;
    loop {
        match reader.read_event().ok()? {
            Event::Start(start) if names.len() < DEEPEST => {
                names.push(start.local_name().into_inner().to_owned());
                value.clear();
            }
            Event::Empty(start) if names.len() < DEEPEST => {
                let name = start.local_name().into_inner().to_owned();
                names.push(name);
                ended(&names, "", &mut end);
                names.pop();
            }
            Event::Start(_) | Event::Empty(_) => return None,
            Event::End(_) => {
                ended(&names, &value, &mut end);
                root = names.pop();
                value.clear();
            }
            Event::Text(text) => value.push_str(&text),
            Event::CData(text) => value.push_str(&text),
            Event::GeneralRef(entity) => value.push(character(&entity)?),
            Event::Eof => return root.filter(|_| names.is_empty()),
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
        }
    }
}

fn ended(names: &[String], value: &str, end: &mut impl FnMut(&[&str], &str)) {
    let path: Vec<&str> = names.iter().map(String::as_str).collect();
    end(&path, value);
}

fn character(entity: &BytesRef<'_>) -> Option<char> {
    match &**entity {
        "lt" => Some('<'),
        "gt" => Some('>'),
        "amp" => Some('&'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => entity.resolve_char_ref().ok().flatten(),
    }
}

/// Decodes a key that a server encoded for its reply. `None` if it is not UTF-8.
fn decoded(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'+' => out.push(b' '),
            b'%' => {
                let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
                let code = digit(bytes.next())? * 16 + digit(bytes.next())?;
                out.push(u8::try_from(code).ok()?);
            }
            byte => out.push(byte),
        }
    }
    String::from_utf8(out).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_read_with_and_without_marks_and_encoding() {
        let text = r#"<?xml version="1.0"?><ListBucketResult xmlns="http://s3/"><Name>b</Name>
            <IsTruncated>true</IsTruncated><EncodingType>url</EncodingType>
            <Contents><Key>a%2Fb+c%01</Key><LastModified>1970-01-01T00:00:01.500Z</LastModified>
            <ETag>&quot;x&quot;</ETag><Size>5</Size><Owner><ID>Key</ID></Owner></Contents>
            <Contents><Key>z%26</Key><Size>0</Size><ETag/></Contents>
            <CommonPrefixes><Prefix>d%2F</Prefix></CommonPrefixes></ListBucketResult>"#;
        let page = page(text).unwrap();
        assert!(page.truncated);
        assert_eq!(page.folders, ["d/"]);
        let keys: Vec<&str> = page.objects.iter().map(|object| object.key.as_str()).collect();
        assert_eq!(keys, ["a/b c\u{1}", "z&"]);
        let first = &page.objects[0];
        assert_eq!((first.etag.as_str(), first.size, first.modified_ms), ("\"x\"", 5, 1_500));
        assert_eq!(page.objects[1], Listed { key: "z&".to_owned(), ..Listed::default() });
    }

    #[test]
    fn a_page_that_goes_on_is_never_taken_for_the_last() {
        let token = "<NextContinuationToken>x</NextContinuationToken>";
        for (text, expected) in [
            ("<IsTruncated>True</IsTruncated>", true),
            ("<IsTruncated> TRUE\n</IsTruncated>", true),
            (token, true),
            (&format!("{token}<IsTruncated>False</IsTruncated>"), false),
            ("<IsTruncated>false</IsTruncated>", false),
            ("", false),
        ] {
            let page = page(&format!("<ListBucketResult>{text}</ListBucketResult>")).unwrap();
            assert_eq!(page.truncated, expected, "{text}");
        }
        let long = "x".repeat(5_000);
        let of = |name: &str| {
            page(&format!(
                "<ListBucketResult><Contents><Key>k</Key><{name}>{long}</{name}></Contents>\
                 </ListBucketResult>"
            ))
        };
        assert_eq!(of("ETag").unwrap().objects[0].etag, "");
        assert_eq!(of("Key"), None);
    }

    #[test]
    fn keys_that_are_not_encoded_stay_as_they_are() {
        let text = "<ListBucketResult><Contents><Key>a+b%41&amp;&#x43;</Key><Size>1</Size>\
             </Contents></ListBucketResult>";
        let page = page(text).unwrap();
        assert_eq!((page.objects[0].key.as_str(), page.truncated), ("a+b%41&C", false));
    }

    #[test]
    fn other_texts_are_no_pages() {
        for text in [
            "",
            "hello",
            "<html><body>Sign in</body></html>",
            "<ListBucketResult>",
            "<ListBucketResult><Contents></ListBucketResult>",
            "<!DOCTYPE a [<!ENTITY x \"y\">]><ListBucketResult><Contents><Key>&x;</Key></Contents></ListBucketResult>",
        ] {
            assert_eq!(page(text), None, "{text}");
        }
        let deep = format!("<ListBucketResult>{}", "<a>".repeat(100_000));
        assert_eq!(page(&deep), None);
        let told = error("<Error><Code>PermanentRedirect</Code><Region>eu</Region></Error>");
        assert_eq!((told.code.as_str(), told.region.as_deref()), ("PermanentRedirect", Some("eu")));
        assert_eq!(error("nothing"), ErrorBody::default());
    }
}
