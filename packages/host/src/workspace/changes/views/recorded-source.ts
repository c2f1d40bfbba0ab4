/** What the agent changed in some turns. People's own changes are not in it. */
import type { ChangesetOperation } from '@atrium/protocol';
import type { ContentStore } from '../content-store.js';
import { VIEW_MAX_FILES } from '../limits.js';
import { putBack, revert as takeBack, type UndoParts } from '../operations/undo.js';
import type { Journal } from '../record/journal.js';
import { netOf } from '../record/segments.js';
import { type RecordedFiles, withRenames } from './files.js';
import { incomplete, type OperationTarget, type Shown, type ViewSource } from './source.js';

export interface RecordedParts {
  readonly view: string;
  readonly store: ContentStore;
  readonly files: RecordedFiles;
  journal(): Promise<Journal>;
  /** Which turns it is about. */
  turns(journal: Journal): readonly string[];
  /** Everything that changes in a turn counts as the agent's, whoever did it. */
  readonly countsWholeTurns: boolean;
  /** What is being recorded now: it is not known yet, but it will be. */
  underWay(): ReadonlySet<string>;
  root(): Promise<string>;
  /** Runs what changes files; fails while the agent is at work. */
  quietly<T>(work: () => Promise<T>): Promise<T>;
}

const REVERT: ChangesetOperation = {
  id: 'revert',
  label: 'Take back',
  description: 'Makes files as they were before. What other people changed in them since stays.',
  scopes: ['changeset', 'resource', 'range'],
  confirmation: 'Take back what the agent changed here? What others changed since stays, and it can be put back.',
  icon: 'discard',
};

/** An agent with tools of its own is watched from the beginning of a turn to its end, and everybody else with it. */
const REVERT_TURNS: ChangesetOperation = {
  ...REVERT,
  description: 'Makes files as they were before the turn. What people changed since stays.',
  confirmation:
    'Take back everything that changed while the agent worked? What you changed meanwhile is among it. ' +
    'What was changed since stays, and it can be put back.',
};

const REAPPLY: ChangesetOperation = {
  id: 'reapply',
  label: 'Put back',
  description: 'Does again what was taken back last.',
  scopes: ['changeset'],
  icon: 'redo',
};

const NOT_RECORDED: Shown = {
  files: [],
  operations: [],
  problem: { errorType: 'not-recorded', message: 'What this turn changed was not recorded in this session.' },
};

export class RecordedSource implements ViewSource {
  readonly isOpenToAll = false;

  constructor(private readonly parts: RecordedParts) {}

  async show(): Promise<Shown> {
    const { files, view } = this.parts;
    const journal = await this.parts.journal();
    const turns = this.parts.turns(journal);
    if (turns.some((turnId) => !journal.has(turnId))) return NOT_RECORDED;
    const root = await this.parts.root();
    const nets = [...journal.segments(turns).values()].flatMap((segments) => netOf(segments) ?? []);
    const shifts = withRenames(nets.sort((a, b) => (a.path < b.path ? -1 : 1)));
    const shown = [];
    files.begin();
    for (const shift of shifts.slice(0, VIEW_MAX_FILES)) shown.push(await files.shown(root, shift));
    const gaps = journal.gaps(turns, this.parts.underWay());
    if (shifts.length > VIEW_MAX_FILES) gaps.push(`only ${VIEW_MAX_FILES} of ${shifts.length} files are shown`);
    const revert = this.parts.countsWholeTurns ? REVERT_TURNS : REVERT;
    const operations = [...(nets.length > 0 ? [revert] : []), ...(journal.lastUndone(view) ? [REAPPLY] : [])];
    return { files: shown, operations, ...(gaps.length > 0 && { problem: incomplete(gaps.join('; ')) }) };
  }

  async run(operationId: string, target: OperationTarget | undefined): Promise<string> {
    const parts = await this.#undoParts();
    return this.parts.quietly(async () => {
      if (operationId === REAPPLY.id) return (await putBack(parts)).message;
      return takeBack(parts, this.parts.turns(parts.journal), target);
    });
  }

  async #undoParts(): Promise<UndoParts> {
    const { store, view } = this.parts;
    return { root: await this.parts.root(), store, view, journal: await this.parts.journal() };
  }
}
