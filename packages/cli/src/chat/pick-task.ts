/** A choice from a list in the middle of a command of the chat. */
import { type Picker, pick } from './picker.js';
import type { TaskContext } from './tasks.js';

/** Lets the person choose on a screen of its own; undefined if they choose nothing. */
export async function picked<T>(context: TaskContext, picker: Picker<T>): Promise<T | undefined> {
  const { style } = context.view();
  let chosen: T | undefined;
  await context.away(async () => {
    const answer = await pick({ picker, style, onEscape: 'goes back' });
    if (answer !== 'escape' && answer !== 'interrupt') chosen = answer;
  });
  return chosen;
}
