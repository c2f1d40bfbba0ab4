/** How a terminal changes. Output belongs to the command that runs, or to none. */
import { reducerOf, withElement, withMembers } from '../reducing.js';
import type { TerminalActionMap } from './actions.js';
import type { TerminalCommandPart, TerminalContentPart, TerminalState } from './state.js';

export const terminalReducer = reducerOf<TerminalState, TerminalActionMap>({
  'terminal/data': (state, { data }) => ({ ...state, content: withOutput(state.content, data) }),
  'terminal/input': (state) => state,
  'terminal/resized': (state, { cols, rows }) => withMembers(state, { cols, rows }),
  'terminal/claimed': (state, { claim }) => withMembers(state, { claim }),
  'terminal/titleChanged': (state, { title }) => withMembers(state, { title }),
  'terminal/cwdChanged': (state, { cwd }) => withMembers(state, { cwd }),
  'terminal/exited': (state, { exitCode }) => withMembers(state, { exitCode }),
  'terminal/cleared': (state) => (state.content.length ? { ...state, content: [] } : state),
  'terminal/commandDetectionAvailable': (state) => withMembers(state, { supportsCommandDetection: true }),

  'terminal/commandExecuted': (state, { commandId, commandLine, timestamp }) => {
    const command: TerminalCommandPart = {
      type: 'command',
      commandId,
      commandLine,
      output: '',
      timestamp,
      isComplete: false,
    };
    return { ...state, content: [...state.content, command], supportsCommandDetection: true };
  },

  'terminal/commandFinished': (state, { commandId, exitCode, durationMs }) => {
    const content = state.content.map((part) =>
      part.type === 'command' && part.commandId === commandId
        ? withMembers(part, { isComplete: true, exitCode, durationMs })
        : part,
    );
    return content.every((part, index) => part === state.content[index]) ? state : { ...state, content };
  },
});

function withOutput(content: TerminalContentPart[], data: string): TerminalContentPart[] {
  const last = content.at(-1);
  const grown = last && withData(last, data);
  return grown ? withElement(content, content.length - 1, grown) : [...content, { type: 'unclassified', value: data }];
}

/** The part with the output appended; undefined for a finished command and for unknown kinds of parts. */
function withData(part: TerminalContentPart, data: string): TerminalContentPart | undefined {
  if (part.type === 'unclassified') return { ...part, value: part.value + data };
  return part.type === 'command' && !part.isComplete ? { ...part, output: part.output + data } : undefined;
}
