// Types of what the theme's scripts share. `tsc` holds the scripts to them; nothing of this is published.

/** Names of the holes of a text: `"n" | "all"` of `"{n} of {all}"`. */
type Holes<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | Holes<Rest> : never;

interface Translate {
  /** The text in the language of the site, with its holes filled. */
  <Text extends string>(
    text: Text,
    ...values: [Holes<Text>] extends [never] ? [] : [Record<Holes<Text>, string | number>]
  ): string;
  /** The first text where `n` is 1, else the second. */
  <One extends string, Many extends string>(
    one: One,
    many: Many,
    values: Record<Holes<One> | Holes<Many> | "n", string | number>,
  ): string;
}

/** The word index of `crates/kbgen-signature`. */
interface WordIndex {
  words: string;
  ignored: string;
  trouble: string[];
  boosts: number[];
  owners: number[];
  size: number;
  starts: number[];
  worths: number[];
  /** Of an index in several parts. */
  floors?: number[];
  files?: { postings: string[]; documents: string[] };
  postings: string[];
  /** Addresses from the root of the site, and titles. */
  documents: [address: string, title: string][][];
}

interface Hit {
  address: string;
  title: string;
  score: number;
  share: number;
  covered: boolean;
}

interface Search {
  (index: WordIndex, text: string, limit: number): Hit[];
  titled(index: WordIndex, text: string): { address: string; title: string; whole: boolean }[];
  isQuestion(text: string): boolean;
  isSuggested(index: WordIndex, hit: Hit, text: string): boolean;
  /** Files of an index in parts that the searches so far lacked. */
  missing(index: WordIndex): string[];
  open(index: WordIndex): any;
  scored(index: WordIndex, text: string): { scores: number[]; troubled: number };
  ranked(scores: number[], ranks?: number[]): number[];
}

/** `data/search.js`: all pages; `notes` and `also` are in the order of the index, and divided like it. */
interface Pages {
  index: WordIndex;
  notes: any[];
  also: any[];
  settings: Record<string, string>;
  groups: [address: string, title: string, count: number][];
}

interface FoundPage {
  address: string;
  title: string;
  note: string;
  group: string;
  named: number;
  worth: number;
  /** Number of further pages with the same message. */
  similar: number;
}

type Figures = Record<string, any>;

/** Parameters of the calculator's address. */
interface LogSetting {
  model?: string;
  quant?: string;
  ctx?: number;
  gpu?: string;
  mem?: number;
  [name: string]: any;
}

/** A page that a signature of `crates/kbgen-signature` found in a log. */
/** A place in the log where a pattern matches. */
interface Occurrence {
  start: number;
  line: number;
  figures: Figures;
}

interface Match {
  slug: string;
  score: number;
  line: number;
  column: number;
  weak?: boolean;
  figures?: Figures;
  cause?: string;
  quote?: string;
  setting?: LogSetting;
  survivable?: boolean;
}

type Matches = Match[] & {
  steps: number;
  skipped: number;
  begun: string[];
  readings: Match[];
  occurrences: Occurrence[][];
};

/** The readings of a log, and the lines of its traceback: `ended` if it is whole, with the `message` of its exception. */
type Readings = Reading[] & { start: number; end: number; ended: number; message?: string };

/** What a log says without a page. */
interface Reading {
  slug: string;
  line: number;
  figures: Figures;
  says: string;
  next: string;
  pages: string[];
  names_cause?: boolean;
  explains?: boolean;
}

interface Cause {
  title: string;
  names: string[];
}

/** A model or device of the catalog; `kbgen.slugOf` gives a slug that is left out. */
type CatalogEntry<T> = [title: string, data: T, slug?: string];

/** `data/diagnose.js`. */
interface Tables {
  match: any;
  pairs: [asked: string, there: string][];
  figures: string[];
  counts: string[];
}

/** `data/catalog.js`: what a log can name. */
interface Catalog {
  models: CatalogEntry<string | null>[];
  devices: CatalogEntry<number>[];
  quants: string[];
}

/** An entry of `data/page-texts.js`. */
interface ErrorPage {
  title: string;
  description: string;
  causes?: Record<string, Cause>;
  fits?: boolean;
  /** By cause; that of the first step has an empty key. */
  first_commands: Record<string, string>;
}

/** `data/runs.js`: what every model needs at a few settings. */
interface Runs {
  quants: string[];
  contexts: number[];
  quant: string;
  ctx: number;
  driver: [least: number, most: number];
  backends: any[];
  models: [
    id: string,
    name: string,
    parameters: number,
    weights: (number | null)[],
    buffers: ([cache: number, compute: number] | null)[],
    files: (number | null)[],
  ][];
}

interface Choice {
  id: string;
  name: string;
  group?: string;
  note?: string;
  also?: string;
  always?: boolean;
}

interface ComboboxOptions {
  entries: Choice[];
  choose(id: string, typed: string): void;
  note?(entry: any, typed: string): { text: string; kind: string };
  more?(text: string): Promise<Choice[]>;
  reads?(typed: string): string;
  none?: string;
  instead?: string;
}

/** The one global name of the scripts; what a page does not load is not there. */
declare const kbgen: {
  // theme.js
  t: Translate;
  // site.js, bundle.js
  load(address: string): Promise<unknown>;
  offerCopy(block: Element): void;
  copy(text: string, button: Element, label: string): void;
  ownDevice(): string;
  rememberDevice(id: string): void;
  // match.js, search.js, names.js
  match: {
    (table: any, log: string): Generator<string[] | void, Matches, void>;
    reading: any;
  };
  // readings.js
  readings: {
    (table: any, found: Matches, text: string, before?: number): Readings | null;
    isQuiet(row: string): boolean;
  };
  settingInLog(text: string, match: Match, catalog: Catalog): LogSetting;
  fileInLog(lines: string[], line: number): string | undefined;
  search: Search;
  names(pages: Pages, text: string): { parts: string[]; pages: FoundPage[]; unknown: string[]; missing: string[] };
  // case.js
  slugOf(entry: CatalogEntry<unknown>): string;
  encoded(text: string): string;
  masked(text: string, longest: number): string;
  caseAddress(text: string, longest: number): string;
  caseFragment(anchor: string, figures: Figures | undefined, setting: LogSetting, tables: Tables): string;
  readCaseFragment(
    hash: string,
    tables: Tables & Catalog,
  ): { anchor: string; figures: Figures; setting: LogSetting } | null;
  // paste.js, finder.js
  findPage?(): void;
  openSearch?(typed: string): void;
  // fit.js, answer.js, command.js
  fit: any;
  answer: any;
  quoteName(name: string, system: string | null): string;
  commands(state: any, setting: any, about: any): { label?: string; text?: string; note?: string }[];
  // calculator.js and what it is made of
  combobox(input: PageElement, options: ComboboxOptions): { show(id: string): void; renew(): void };
  settings(index: any, own: string | null): any;
  picture: any;
  calculator: { index: object; state(): object };
  // tools.js
  tools: any;
  // data/*.js
  pages?: Pages;
  tables?: Tables;
  catalog?: Catalog;
  pageTexts?: Record<string, ErrorPage>;
  readingTexts?: Record<string, any>;
  similar?: WordIndex;
  runs?: Runs;
  published?: [slug: string, names: string][];
  gguf?: any;
  openModel?(files: File[], index: any): Promise<any>;
  devices?: [id: string, title: string, bytes: [least: number, most: number], backends: number[]][];
};

interface Window {
  kbgen: Pick<typeof kbgen, "t">;
  /** Of browsers that know Trusted Types. */
  trustedTypes?: { createPolicy(name: string, rules: object): unknown };
}
declare const trustedTypes: NonNullable<Window["trustedTypes"]>;

/** An element of our own pages, whose kind the templates decide. */
interface PageElement extends HTMLElement {
  readonly parentElement: PageElement | null;
  [property: string]: any;
}
interface ParentNode {
  querySelector(selectors: string): PageElement | null;
  querySelectorAll(selectors: string): NodeListOf<PageElement>;
}
interface Document {
  getElementById(id: string): PageElement | null;
}
interface Element {
  closest(selectors: string): PageElement | null;
}
/** What events of a page happen to. */
interface EventTarget {
  closest(selectors: string): PageElement | null;
  id: string;
  tagName: string;
  type: string;
}
interface Event {
  dataTransfer?: DataTransfer;
}
