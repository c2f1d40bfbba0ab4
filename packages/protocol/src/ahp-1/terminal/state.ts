/** The state of a terminal: its owner, its screen, and the commands in its output. */
import { type Static, Type } from 'typebox';
import { OpenUnion } from '../../schema/define.js';
import {
  TerminalSessionClaim as SessionClaim,
  TerminalClientClaim,
  TerminalCommandPart,
  TerminalContentPart,
  TerminalUnclassifiedPart,
} from '../../terminal/state.js';
import { URI } from '../common/types.js';

export { TerminalClientClaim, TerminalCommandPart, TerminalContentPart, TerminalUnclassifiedPart };

export const TerminalSessionClaim = Type.Object(
  { ...SessionClaim.properties, chat: URI },
  {
    $id: 'TerminalSessionClaim',
    description: 'A chat of a session owns the terminal. With a turn and a call, a tool is using it now.',
  },
);
export type TerminalSessionClaim = Static<typeof TerminalSessionClaim>;

export const TerminalClaim = Type.Union([TerminalClientClaim, TerminalSessionClaim], {
  $id: 'TerminalClaim',
  description: 'The owner of a terminal. A terminal always has exactly one.',
});
export type TerminalClaim = Static<typeof TerminalClaim>;

export const TerminalRunning = Type.Object(
  { status: Type.Literal('running') },
  { $id: 'TerminalRunning', description: 'The process runs.' },
);
export type TerminalRunning = Static<typeof TerminalRunning>;

export const TerminalExited = Type.Object(
  { status: Type.Literal('exited'), exitCode: Type.Optional(Type.Number()) },
  { $id: 'TerminalExited', description: 'The process ended, with or without an exit code.' },
);
export type TerminalExited = Static<typeof TerminalExited>;

export const TerminalLifecycle = OpenUnion('status', [TerminalRunning, TerminalExited], {
  $id: 'TerminalLifecycle',
  description: 'Whether the process of a terminal runs.',
});
export type TerminalLifecycle = Static<typeof TerminalLifecycle>;

export const TerminalInfo = Type.Object(
  { resource: URI, title: Type.String(), claim: TerminalClaim, lifecycle: TerminalLifecycle },
  { $id: 'TerminalInfo', description: 'A terminal in the list of terminals.' },
);
export type TerminalInfo = Static<typeof TerminalInfo>;

export const TerminalState = Type.Object(
  {
    title: Type.String(),
    cwd: Type.Optional(URI),
    cols: Type.Optional(Type.Number()),
    rows: Type.Optional(Type.Number()),
    content: Type.Array(TerminalContentPart),
    lifecycle: TerminalLifecycle,
    claim: TerminalClaim,
    supportsCommandDetection: Type.Optional(
      Type.Boolean({ description: 'Whether commands can be told apart in the output.' }),
    ),
    isPty: Type.Optional(Type.Boolean({ description: 'Whether it is a real terminal with escape sequences.' })),
  },
  { $id: 'TerminalState', description: 'A terminal: its size, its owner, its output.' },
);
export type TerminalState = Static<typeof TerminalState>;
