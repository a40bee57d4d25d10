// The built site in a browser, as a reader meets it: node --test tests/browser/
import { after } from "node:test";
import { build, close, serve, start } from "./harness.mjs";
import bundle from "./parts/bundle.mjs";
import calculator from "./parts/calculator.mjs";
import calculator_figures from "./parts/calculator-figures.mjs";
import colors from "./parts/colors.mjs";
import error_page from "./parts/error-page.mjs";
import every_page from "./parts/every-page.mjs";
import journey from "./parts/journey.mjs";
import language from "./parts/language.mjs";
import links from "./parts/links.mjs";
import lists from "./parts/lists.mjs";
import live_reload from "./parts/live-reload.mjs";
import map from "./parts/map.mjs";
import paste_box from "./parts/paste-box.mjs";
import places from "./parts/places.mjs";
import samples from "./parts/samples.mjs";
import search from "./parts/search.mjs";
import strict from "./parts/strict.mjs";
import tools from "./parts/tools.mjs";
import weight from "./parts/weight.mjs";

after(close);

const folder = await build();
const browser = await start();
const { url } = await serve(folder);

for (const part of [links, every_page, places, error_page, paste_box, samples, search, journey, calculator, calculator_figures, tools, lists, map, colors, weight, strict, bundle, language, live_reload]) part({ folder, browser, url });
