// Order of the results of a search: entries of search.toml, exact names, then pages that answer a question. Records come last.
var Scorer = (() => {
  // The weight of a page is that of the first pattern that its place has.
  const WEIGHTS = [
    [/^(decisions|measurements|bench|packaging|files)\/|^project\/changelog|-coverage$/, 0.01],
    [/^reference\/cpp\/|^reference\/python\/atoll-(nccl|nvshmem|shmem|nbshmem)/, 0.01],
    [/^(examples|project)\/|^design$|^events$/, 0.1],
    [/^(tutorials\/)?[\w-]+$/, 2],
  ];
  const EXACT_ENTRY = 1000;
  const PART_OF_WORD = 0.05;

  const weight = (page) => (WEIGHTS.find(([pattern]) => pattern.test(page)) || [null, 1])[1];
  const query = () => (new URLSearchParams(location.search).get("q") || "").toLowerCase().trim();

  /** True if the text has the query, and no letter or digit is beside it: "unchanged" does not have "hang". */
  const hasWhole = (text) => {
    const words = query().replace(/[.*+\-?^${}()|[\]\\]/g, "\\$&");
    return new RegExp(`(^|[^a-z0-9])${words}s?($|[^a-z0-9])`).test(text.toLowerCase());
  };

  const byKind = {
    index: (title, score) => (score === 100 ? EXACT_ENTRY : score / 20),
    title: (title, score) => (hasWhole(title) ? score : score * PART_OF_WORD),
    // Functions of `atoll` come before methods with the same name.
    object: (title, score) => (hasWhole(title) || query().includes(" ") ? score - title.split(".").length : score * PART_OF_WORD),
  };

  /** The score of a result. An entry below a page's title becomes a result for the page, which Sphinx then shows once. */
  const score = (result) => {
    const [page, title, anchor, , given, , kind] = result;
    if (kind === "index" && /^#index-\d+$/.test(anchor) && !page.startsWith("reference/python/")) result[2] = "";
    return weight(page) * (byKind[kind] ? byKind[kind](title, given) : given);
  };

  return {
    score,
    objNameMatch: 50,
    objPartialMatch: 6,
    objPrio: { 0: 15, 1: 5, 2: -5 },
    objPrioDefault: 0,
    title: 15,
    partialTitle: 0.5,
    term: 5,
    partialTerm: 0.5,
  };
})();
