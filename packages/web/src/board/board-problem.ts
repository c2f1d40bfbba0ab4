/** The host says what went wrong as part of a sentence; here it stands alone. */
import { problemText } from '../host/problem.js';

export function boardProblem(error: unknown): string {
  return asSentence(problemText(error));
}

export function asSentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
