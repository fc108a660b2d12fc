// The page of the studio begins here.

import { Studio } from "./studio.js";

window.studio = new Studio(document); // for tests, and for the curious
window.studio.begin();
