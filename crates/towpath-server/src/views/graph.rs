//! The recipe of a run as an image for the page, which sets the status of each step.

use super::journal::{find, open_for, shown};
use crate::Server;
use crate::answer::{Answer, Refusal};
use crate::routes::Asked;
use towpath_view::chart::{Chart, svg};

pub(crate) fn answer(server: &Server, asked: &Asked) -> Result<Answer, Refusal> {
    let name = asked.path("run");
    let store = open_for(server, name)?;
    let shown = shown(server, &store, find(&store, name)?)?;
    let image = svg::write_for_page(&Chart::of(shown.run().program()));
    let bytes = image.into_bytes();
    Ok(Answer::Bytes { content_type: "image/svg+xml", headers: Vec::new(), bytes })
}
