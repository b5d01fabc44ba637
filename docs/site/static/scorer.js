// Order of the results of a search: pages that answer a question come before records and lists of names.
const LATER = [/^decisions\//, /^measurements\//, /^project\/changelog/, /^reference\/cpp\//, /^files\//, /^reference\/python\/atoll-(nccl|nvshmem|shmem|nbshmem)/];

// eslint-disable-next-line no-unused-vars -- Sphinx's search reads this object
var Scorer = {
  score: ([docname, , , , score]) => (LATER.some((pattern) => pattern.test(docname)) ? score / 100 : score),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
