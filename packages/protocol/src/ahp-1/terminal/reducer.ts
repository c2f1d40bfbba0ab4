/** How a terminal changes. Output belongs to the command that runs, or to none. */
import { withElement, withMembers } from '../../reducing.js';
import { present, reducerOf, sameWhenEqual } from '../reducing.js';
import type { TerminalActionMap } from './actions.js';
import type { TerminalCommandPart, TerminalContentPart, TerminalLifecycle, TerminalState } from './state.js';

export const terminalReducer = reducerOf<TerminalState, TerminalActionMap>({
  'terminal/data': (state, { data }) => withMembers(state, { content: withOutput(state.content, data) }),
  'terminal/input': (state) => state,
  'terminal/resized': (state, { cols, rows }) => withMembers(state, { cols, rows }),
  'terminal/claimed': (state, { claim }) => withMembers(state, { claim }),
  'terminal/titleChanged': (state, { title }) => withMembers(state, { title }),
  'terminal/cwdChanged': (state, { cwd }) => withMembers(state, { cwd }),
  'terminal/exited': (state, { exitCode }) =>
    hasExited(state.lifecycle, exitCode) ? state : { ...state, lifecycle: present({ status: 'exited', exitCode }) },
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
    const finished = present({ isComplete: true, exitCode, durationMs });
    const content = state.content.map((part) =>
      part.type === 'command' && part.commandId === commandId ? withMembers(part, finished) : part,
    );
    return withMembers(state, { content: sameWhenEqual(state.content, content) });
  },
});

function hasExited(lifecycle: TerminalLifecycle, exitCode: number | undefined): boolean {
  return lifecycle.status === 'exited' && lifecycle.exitCode === exitCode;
}

function withOutput(content: TerminalContentPart[], data: string): TerminalContentPart[] {
  const last = content.at(-1);
  const grown = last && withData(last, data);
  return grown ? withElement(content, content.length - 1, grown) : [...content, { type: 'unclassified', value: data }];
}

/** The part with the output appended; undefined for a finished command and for unknown kinds of parts. */
function withData(part: TerminalContentPart, data: string): TerminalContentPart | undefined {
  if (part.type === 'unclassified') return withMembers(part, { value: part.value + data });
  return part.type === 'command' && !part.isComplete ? withMembers(part, { output: part.output + data }) : undefined;
}
