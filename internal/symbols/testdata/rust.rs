//! fn not_here() {}
use std::fmt;
pub const LIMIT: usize = 10;
static NAME: &str = "fn also_not() {}";
#[derive(Debug)]
pub struct Table<'a> { rows: Vec<&'a str> }
pub enum Colour { Red }
pub trait Draw {
    fn draw(&self) -> String;
}
impl<'a> Draw for Table<'a> {
    fn draw(&self) -> String { String::new() }
}
impl<'a> Table<'a> {
    pub async fn load(
        path: &str,
        limit: usize,
    ) -> Result<Self, Error>
    where
        Self: Sized,
    {
        open(path)
    }
}
pub type Rows = Vec<String>;
macro_rules! table { () => {} }
mod inner { pub fn deep() {} }
#[cfg(test)]
mod tests { fn check() {} }
