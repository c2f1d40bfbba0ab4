/** Makes the host's error, which is part of a sentence, a sentence of its own. */
import { problemText } from '../host/problem.js';
import { asSentence } from '../model/format.js';

export function boardProblem(error: unknown): string {
  return asSentence(problemText(error));
}
