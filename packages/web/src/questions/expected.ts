/** Somebody has just done what may ask back, like a commit: they are led to the question when it comes. */

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
