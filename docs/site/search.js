// Prints the first pages that the search of a built site shows: node search.js SITE, with a JSON list of queries on stdin.
//
// It runs Sphinx's own script with the site's index in place of a browser.
"use strict";
const fs = require("fs");
const path = require("path");
const vm = require("vm");

const SHOWN = 3;
const site = process.argv[2];
const element = { append() {}, appendChild: (child) => child, querySelectorAll: () => [] };
const browser = {
  SPHINX_HIGHLIGHT_ENABLED: false,
  URLSearchParams,
  _: (text) => text,
  _ready() {},
  document: { getElementById: () => element, createElement: () => element, querySelectorAll: () => [] },
  location: { search: "" },
};
browser.window = browser;
vm.createContext(browser);
for (const name of ["_static/searchtools.js", "_static/language_data.js", "searchindex.js"]) {
  vm.runInContext(fs.readFileSync(path.join(site, name), "utf8"), browser, { filename: name });
}

/** The places of the first results, best first. */
function first(query) {
  browser.location.search = `?${new URLSearchParams({ q: query })}`;
  browser.query = query;
  const found = vm.runInContext("Search._performSearch(...Search._parseQuery(query))", browser);
  return found.reverse().slice(0, SHOWN).map(([page, , anchor]) => page + anchor);
}

const queries = JSON.parse(fs.readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(Object.fromEntries(queries.map((query) => [query, first(query)]))));
