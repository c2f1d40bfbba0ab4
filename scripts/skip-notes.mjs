/** A reporter for vitest: writes what tests said when they skipped themselves, which the JSON report leaves out. */
import { writeFileSync } from 'node:fs';

export const SKIP_NOTES_FILE = 'ATRIUM_SKIP_NOTES';

export default class SkipNotes {
  /** Full name → what the test said. @type {Record<string, string>} */
  #notes = {};

  /** @param {import('vitest/node').TestCase} test */
  onTestCaseResult(test) {
    const result = test.result();
    if (result.state === 'skipped' && result.note) this.#notes[test.fullName.replaceAll(' > ', ' ')] = result.note;
  }

  onTestRunEnd() {
    const file = process.env[SKIP_NOTES_FILE];
    if (file) writeFileSync(file, JSON.stringify(this.#notes));
  }
}
