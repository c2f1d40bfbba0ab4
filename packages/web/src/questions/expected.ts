/** Marks that an action, like a commit, may ask back: the question that follows then takes the focus. */

/** How long a question that comes up is likely to come from what was just done. */
const EXPECTED_MS = 2_000;

let until = 0;

export function expectQuestion(): void {
  until = Date.now() + EXPECTED_MS;
}

/** Once for each time that one was expected. */
export function isQuestionExpected(): boolean {
  const wasExpected = Date.now() < until;
  until = 0;
  return wasExpected;
}
