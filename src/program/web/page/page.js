// The page shows the sources of `live`, a file, or files to work on. No other address is asked for anything.

import { showFile } from "/file.js";
import { showSources } from "/live.js";
import { ask, say, wordsOf } from "/picture.js";
import { showWork } from "/work.js";

// The address that has the token has done its work: the cookie has it now.
if (location.search) history.replaceState(null, "", location.pathname + location.hash);

// Firefox leaves a control that gets the focus behind the bar at the lower edge.
addEventListener("focusin", ({ target }) => target.scrollIntoView({ block: "nearest" }));
try {
  const [work, file] = await Promise.all([ask("/api/work"), ask("/api/file")]);
  await (work ? showWork(work) : file ? showFile(file) : showSources());
} catch (error) {
  say(wordsOf(error));
}
