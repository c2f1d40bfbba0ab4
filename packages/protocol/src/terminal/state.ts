/** The state of a terminal: its owner, its screen, and the commands in its output. */
import { type Static, Type } from 'typebox';
import { URI } from '../common/types.js';

export const TerminalClientClaim = Type.Object(
  { kind: Type.Literal('client'), clientId: Type.String() },
  { $id: 'TerminalClientClaim', description: 'A client owns the terminal.' },
);
export type TerminalClientClaim = Static<typeof TerminalClientClaim>;

export const TerminalSessionClaim = Type.Object(
  {
    kind: Type.Literal('session'),
    session: URI,
    turnId: Type.Optional(Type.String()),
    toolCallId: Type.Optional(Type.String()),
  },
  {
    $id: 'TerminalSessionClaim',
    description: 'A session owns the terminal. With a turn and a call, a tool is using it now.',
  },
);
export type TerminalSessionClaim = Static<typeof TerminalSessionClaim>;

export const TerminalClaim = Type.Union([TerminalClientClaim, TerminalSessionClaim], {
  $id: 'TerminalClaim',
  description: 'The owner of a terminal. A terminal always has exactly one.',
});
export type TerminalClaim = Static<typeof TerminalClaim>;

export const TerminalCommandPart = Type.Object(
  {
    type: Type.Literal('command'),
    commandId: Type.String(),
    commandLine: Type.String(),
    output: Type.String({ description: 'What it printed.' }),
    timestamp: Type.Number(),
    isComplete: Type.Boolean({ description: 'Whether it has ended.' }),
    exitCode: Type.Optional(Type.Number()),
    durationMs: Type.Optional(Type.Number()),
  },
  { $id: 'TerminalCommandPart', description: 'A command and its output.' },
);
export type TerminalCommandPart = Static<typeof TerminalCommandPart>;

export const TerminalUnclassifiedPart = Type.Object(
  { type: Type.Literal('unclassified'), value: Type.String({ description: 'The output.' }) },
  { $id: 'TerminalUnclassifiedPart', description: 'Output that belongs to no known command.' },
);
export type TerminalUnclassifiedPart = Static<typeof TerminalUnclassifiedPart>;

export const TerminalContentPart = Type.Union([TerminalUnclassifiedPart, TerminalCommandPart], {
  $id: 'TerminalContentPart',
  description: 'A piece of what a terminal shows.',
});
export type TerminalContentPart = Static<typeof TerminalContentPart>;

export const TerminalInfo = Type.Object(
  { resource: URI, title: Type.String(), claim: TerminalClaim, exitCode: Type.Optional(Type.Number()) },
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
    exitCode: Type.Optional(Type.Number()),
    claim: TerminalClaim,
    supportsCommandDetection: Type.Optional(
      Type.Boolean({ description: 'Whether commands can be told apart in the output.' }),
    ),
  },
  { $id: 'TerminalState', description: 'A terminal: its size, its owner, its output.' },
);
export type TerminalState = Static<typeof TerminalState>;
