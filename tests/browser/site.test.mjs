// The pages of the built site in a browser, as a reader meets them: node --test tests/browser/site.test.mjs
import { after } from "node:test";
import { build, close, serve, start } from "./harness.mjs";
import colors from "./parts/colors.mjs";
import errorPage from "./parts/error-page.mjs";
import everyPage from "./parts/every-page.mjs";
import firstScreen from "./parts/first-screen.mjs";
import language from "./parts/language.mjs";
import links from "./parts/links.mjs";
import lists from "./parts/lists.mjs";
import navigation from "./parts/navigation.mjs";
import liveReload from "./parts/live-reload.mjs";
import places from "./parts/places.mjs";
import search from "./parts/search.mjs";
import strict from "./parts/strict.mjs";
import weight from "./parts/weight.mjs";

after(close);

const folder = await build();
const browser = await start();
const { url } = await serve(folder);

const parts = [
  navigation,
  links,
  everyPage,
  places,
  errorPage,
  firstScreen,
  lists,
  search,
  colors,
  weight,
  strict,
  language,
];
for (const part of [...parts, liveReload]) part({ folder, browser, url });
