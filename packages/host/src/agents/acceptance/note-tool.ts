/** The one tool of the suite. It asks a person first, and remembers what it was given. */
import type { HostTool } from '../../core/contracts/tool.js';
import type { PlannedAnswer } from './plan.js';

export const NOTE = 'note';
/** Its result: the model must come to know it. */
export const NOTED = 'noted under 7';
/** An answer that calls it. */
export const callsNote: PlannedAnswer = { call: { name: NOTE, input: { text: 'plums' } } };

export function noteTool(notes: unknown[]): HostTool {
  const properties = { text: { type: 'string' } };
  return {
    definition: {
      name: NOTE,
      description: 'Notes a text.',
      inputSchema: { type: 'object', properties, required: ['text'] },
    },
    displayName: 'Note',
    invocationMessage: () => 'Note something',
    confirmation: () => ({ title: 'Note it?' }),
    run: async (input) => {
      notes.push(input);
      return { success: true, pastTenseMessage: 'Noted something', content: [{ type: 'text', text: NOTED }] };
    },
  };
}
