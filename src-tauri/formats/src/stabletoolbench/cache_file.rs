//! **Pure.** Files of cached API replies: their paths, lookup of entries by the input of a call,
//! and insertion that preserves all other content, whichever program wrote it.
use super::names;
use super::python_json::{Codes, Layout, Py, Reader};
use std::collections::HashMap;
use std::ops::Range;
use touchstone_model::error::ReadError;

/// A file with cached replies of one API, as it is on disk.
#[derive(Debug, Clone)]
pub struct CacheFile {
    text: String,
    /// Keys with the ranges of their values, in order.
    entries: Vec<(String, Range<usize>)>,
    /// Index of each key. The last of equal keys wins, as in Python.
    places: HashMap<String, usize>,
}

/// Form of the key under which an entry was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeyForm {
    /// Python's text of the input, keys in their original order.
    Python,
    /// Python's text of the input, keys sorted.
    PythonSorted,
    /// JSON on one line, keys sorted.
    Json,
}

impl KeyForm {
    /// Returns the name of the form.
    pub fn word(self) -> &'static str {
        match self {
            Self::Python => "python",
            Self::PythonSorted => "python sorted",
            Self::Json => "json",
        }
    }
}

/// Returns the possible keys of an input, in the order in which they are tried.
pub fn keys(input: &Py) -> Vec<(KeyForm, String)> {
    let sorted = input.sorted();
    let mut keys = vec![(KeyForm::Python, input.str()), (KeyForm::PythonSorted, sorted.str())];
    // Some programs escape characters beyond ASCII, others do not.
    for layout in [Layout::Compact, Layout::Wire, Layout::Python] {
        keys.push((KeyForm::Json, sorted.dumps(layout)));
    }
    let mut seen = Vec::new();
    keys.retain(|(_, key)| {
        !seen.contains(key) && {
            seen.push(key.clone());
            true
        }
    });
    keys
}

impl Default for CacheFile {
    fn default() -> Self {
        Self { text: "{}".to_owned(), entries: Vec::new(), places: HashMap::new() }
    }
}

impl CacheFile {
    /// Parses a file. Fails if it is not a JSON object.
    pub fn read(text: String) -> Result<Self, ReadError> {
        let mut entries = Vec::new();
        let mut reader = Reader::new(&text, true);
        reader.blanks();
        if !reader.closes(b'{') {
            return Err(reader.fault("A file of cached replies has to be an object."));
        }
        reader.blanks();
        let mut more = !reader.closes(b'}');
        while more {
            reader.build = true;
            let key = reader.key()?;
            let start = reader.at;
            reader.build = false;
            reader.value()?;
            entries.push((key.to_display_text(), start..reader.at));
            more = reader.comma(b'}')?;
        }
        reader.end()?;
        let places = entries.iter().enumerate().map(|(at, (key, _))| (key.clone(), at)).collect();
        Ok(Self { text, entries, places })
    }

    /// Returns the text of the file.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the number of replies.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Returns true if there are no replies.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Estimates the memory use in bytes.
    pub fn weight(&self) -> usize {
        let keys: usize = self.entries.iter().map(|(key, _)| 2 * key.len() + 128).sum();
        self.text.len() + keys
    }

    /// Returns the JSON of the reply under a key.
    pub fn get(&self, key: &str) -> Option<&str> {
        let (_, place) = self.entries.get(*self.places.get(key)?)?;
        self.text.get(place.clone())
    }

    /// Returns the reply to an input, by the first of its keys that exists.
    pub fn find(&self, keys: &[(KeyForm, String)]) -> Option<(KeyForm, &str)> {
        keys.iter().find_map(|(form, key)| Some((*form, self.get(key)?)))
    }

    /// Returns the first entries, as keys with the JSON of their replies.
    pub fn first(&self, most: usize) -> impl Iterator<Item = (&str, &str)> {
        let entries = self.entries.iter().take(most);
        entries.filter_map(|(key, place)| Some((key.as_str(), self.text.get(place.clone())?)))
    }

    /// Returns the file with these replies added: a new one is appended, an existing one is
    /// replaced in place. Everything else is preserved byte for byte. Keys are escaped as in
    /// Python.
    #[must_use]
    pub fn with<'a>(&self, added: impl IntoIterator<Item = (&'a str, &'a Py)>) -> Self {
        let mut file = self.clone();
        for (key, reply) in added {
            file.put(key, &reply.dumps(Layout::Indented(1)));
        }
        file
    }

    fn put(&mut self, key: &str, reply: &str) {
        if let Some(at) = self.places.get(key).copied() {
            let Some(place) = self.entries.get(at).map(|(_, place)| place.clone()) else { return };
            self.text.replace_range(place.clone(), reply);
            let end = place.start + reply.len();
            for (_, later) in self.entries.iter_mut().skip(at + 1) {
                *later = later.start - place.end + end..later.end - place.end + end;
            }
            self.entries[at].1 = place.start..end;
            return;
        }
        let kept = match self.entries.last() {
            Some((_, last)) => last.end,
            None => self.text.find('{').map_or(0, |open| open + 1),
        };
        self.text.truncate(kept);
        self.text.push_str(if self.entries.is_empty() { "\n    " } else { ",\n    " });
        self.text.push_str(&Py::Text(Codes::from(key)).dumps(Layout::Python));
        self.text.push_str(": ");
        let start = self.text.len();
        self.text.push_str(reply);
        self.places.insert(key.to_owned(), self.entries.len());
        self.entries.push((key.to_owned(), start..self.text.len()));
        self.text.push_str("\n}");
    }
}

/// Names of an API in requests and the paths of its replies.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ApiLocation {
    /// Category, as in the name of its directory.
    pub category: String,
    /// Tool name with the category: `theclique_for_Data`.
    pub tool: String,
    /// API name.
    pub api: String,
    /// Folders and file below the cache, first the one that is written; empty if the names cannot
    /// be part of a path.
    pub files: Vec<[String; 3]>,
}

impl ApiLocation {
    /// Returns the place of an API from the names in a request; raw and standardized names are
    /// equivalent.
    pub fn from_names(category: &str, tool_name: &str, api_name: &str) -> Self {
        let sent = (tool_name, api_name);
        let category = names::category(category);
        let with_category = tool_name.ends_with(&format!("_for_{category}")) && is_plain(tool_name);
        let tool = if with_category {
            tool_name.to_owned()
        } else {
            format!("{}_for_{category}", names::standardize(tool_name))
        };
        let whole = names::api_name(api_name);
        let cut = whole.find(&format!("_for_{tool_name}")).filter(|_| !tool_name.is_empty());
        let api = cut.map_or(whole.as_str(), |at| &whole[..at]).to_owned();
        let spaced = |name: &str| name.replace(' ', "_");
        let mut files = Vec::new();
        for (tool, api) in [
            (tool.clone(), api.clone()),
            (tool.clone(), format!("{api}.beside")),
            (sent.0.to_owned(), spaced(sent.1)),
            (names::standardize(tool_name), api.clone()),
        ] {
            let file = [category.clone(), tool, format!("{api}.json")];
            if !files.contains(&file) {
                files.push(file);
            }
        }
        // The written path must be safe; unsafe paths that are only read are omitted.
        let safe = |file: &[String; 3]| file.iter().all(|part| is_plain(part));
        let first = files.first().is_some_and(safe);
        files.retain(|file| first && safe(file));
        Self { category, tool, api, files }
    }

    /// Returns the tool name as in a pool of tools, without the category suffix.
    pub fn tool_without_category(&self) -> &str {
        self.tool.strip_suffix(&format!("_for_{}", self.category)).unwrap_or(&self.tool)
    }
}

/// Returns true for a name that is safe as a single folder or file name in a path.
fn is_plain(part: &str) -> bool {
    let odd = |c: char| matches!(c, '/' | '\\' | '\0') || c.is_control();
    !part.is_empty() && part.len() <= 200 && !part.starts_with('.') && !part.contains(odd)
}

#[cfg(test)]
mod tests {
    use super::super::python_json;
    use super::*;

    fn py(text: &str) -> Py {
        python_json::read(text).unwrap()
    }

    #[test]
    fn an_entry_is_found_by_pythons_text_then_in_order_then_by_json() {
        let input = py(r#"{"b":1,"a":"é"}"#);
        let found = |text: &str| {
            let file = CacheFile::read(text.to_owned()).unwrap();
            file.find(&keys(&input)).map(|(form, reply)| (form, reply.to_owned()))
        };
        assert_eq!(
            found(r#"{"{'b': 1, 'a': 'é'}": 1, "{'a': 'é', 'b': 1}": 2}"#),
            Some((KeyForm::Python, "1".to_owned()))
        );
        assert_eq!(
            found(r#"{"{'a': '\u00e9', 'b': 1}": 2}"#),
            Some((KeyForm::PythonSorted, "2".to_owned()))
        );
        assert_eq!(
            found(r#"{"{\"a\":\"é\",\"b\":1}": {"x": [NaN]}}"#),
            Some((KeyForm::Json, r#"{"x": [NaN]}"#.to_owned()))
        );
        assert_eq!(
            found(r#"{"{\"a\":\"\\u00e9\",\"b\":1}": 4}"#),
            Some((KeyForm::Json, "4".to_owned()))
        );
        assert_eq!(found(r#"{"{'b': 2}": 1}"#), None);
        assert_eq!(
            found(r#"{"{'b': 1, 'a': 'é'}": 1, "{'b': 1, 'a': 'é'}": 2}"#).unwrap().1,
            "2",
            "the last counts"
        );
    }

    #[test]
    fn a_new_entry_is_written_as_the_original_writes_it() {
        let file = CacheFile::default()
            .with([("{'q': 'caf\u{e9}'}", &py(r#"{"error":"","response":{"a":[1.0,{}]}}"#))]);
        assert_text(
            file.text(),
            "{\n    \"{'q': 'caf\\u00e9'}\": {\n        \"error\": \"\",\n        \"response\": {\
             \n            \"a\": [\n                1.0,\n                {}\n            ]\
             \n        }\n    }\n}",
        );
        let twice = file.with([("{}", &py("1"))]);
        assert!(twice.text().ends_with("    },\n    \"{}\": 1\n}"));
        assert_eq!((twice.get("{}"), twice.len()), (Some("1"), 2));
    }

    fn assert_text(got: &str, wanted: &str) {
        assert_eq!(got, wanted);
    }

    #[test]
    fn what_else_is_in_the_file_stays_byte_for_byte() {
        let old = "{ \"k\" :\t{\"response\":1e3,\"error\":\"\\ud83d\"} , \"odd\": [NaN ,2]\n}\n";
        let file = CacheFile::read(old.to_owned()).unwrap();
        let new = file.with([("n", &py("{}")), ("k", &py("7")), ("m", &py("8"))]);
        assert_eq!(
            new.text(),
            "{ \"k\" :\t7 , \"odd\": [NaN ,2],\n    \"n\": {},\n    \"m\": 8\n}"
        );
        for (key, reply) in [("k", "7"), ("odd", "[NaN ,2]"), ("n", "{}"), ("m", "8")] {
            assert_eq!(new.get(key), Some(reply));
            assert_eq!(CacheFile::read(new.text().to_owned()).unwrap().get(key), Some(reply));
        }
        assert_eq!(new.first(2).collect::<Vec<_>>(), [("k", "7"), ("odd", "[NaN ,2]")]);
    }

    #[test]
    fn cache_files_must_be_objects() {
        for text in ["", "[]", "{\"broken\"}", "{\"a\":1", "{\"a\":1}}", "null", "{a:1}"] {
            assert!(CacheFile::read(text.to_owned()).is_err(), "{text}");
        }
        assert!(CacheFile::read(" {\n}\n".to_owned()).unwrap().is_empty());
        assert_eq!(
            CacheFile::read(" {\n}\n".to_owned()).unwrap().with([("a", &py("1"))]).text(),
            " {\n    \"a\": 1\n}"
        );
    }

    #[test]
    fn raw_names_and_standard_ones_are_the_same_place() {
        let written =
            |c, t, a| ApiLocation::from_names(c, t, a).files.first().map(|file| file.join("/"));
        let usual = Some("Data/theclique_for_Data/transfermarkt_details.json".to_owned());
        assert_eq!(written("Data", "TheClique", "Transfermarkt details"), usual);
        assert_eq!(written("Data", "theclique", "transfermarkt_details"), usual);
        assert_eq!(written("Data", "theclique", "transfermarkt_details_for_theclique"), usual);
        assert_eq!(written("Data", "theclique_for_Data", "transfermarkt_details"), usual);
        let other = "Data/theclique_for_Data/transfermarkt_details_for_theclique.json";
        assert_eq!(
            written("Data", "TheClique", "transfermarkt_details_for_theclique").as_deref(),
            Some(other)
        );
        let read: Vec<_> = ApiLocation::from_names("Data", "TheClique", "Transfermarkt details")
            .files
            .iter()
            .map(|f| f.join("/"))
            .collect();
        assert_eq!(
            read[2..],
            [
                "Data/TheClique/Transfermarkt_details.json",
                "Data/theclique/transfermarkt_details.json"
            ]
        );
        assert_eq!(
            ApiLocation::from_names("Business", "realtor_data_api_for_real_estate", "x")
                .tool_without_category(),
            "realtor_data_api_for_real_estate"
        );
    }

    #[test]
    fn no_name_leaves_the_folder() {
        for (category, tool, api) in [
            ("..", "t", "a"),
            (".", "t", "a"),
            ("", "t", "a"),
            ("a\0", "t", "a"),
            ("\\..\\x", "t", "a"),
            (".touchstone", "t", "a"),
        ] {
            assert!(ApiLocation::from_names(category, tool, api).files.is_empty(), "{category}");
        }
        for (category, tool, api) in [
            ("Data", "../../x_for_Data", "../../y"),
            ("Data", "/etc/x", "/etc/passwd"),
            ("../Data", "..", ".."),
        ] {
            for file in ApiLocation::from_names(category, tool, api).files {
                let joined = file.join("/");
                assert!(
                    file.iter().all(|part| is_plain(part)) && joined.split('/').count() == 3,
                    "{joined}"
                );
            }
        }
    }
}
