// The page shows the sources of `live`, or a file. No other address is asked for anything.

import { showFile } from "/file.js";
import { showSources } from "/live.js";
import { ask, say } from "/picture.js";

// The address that has the token has done its work: the cookie has it now.
if (location.search) history.replaceState(null, "", `/${location.hash}`);

try {
  const file = await ask("/api/file");
  if (file) await showFile(file);
  else await showSources();
} catch (error) {
  say(error.message);
}
