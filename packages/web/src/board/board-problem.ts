/** Makes the host's error, which is part of a sentence, a sentence of its own. */
import { problemText } from '../host/problem.js';

export function boardProblem(error: unknown): string {
  return asSentence(problemText(error));
}

export function asSentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
