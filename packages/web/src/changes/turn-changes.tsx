/** The link from a turn to its changes, with the number of changed lines. */
import type { Turn } from '@atrium/protocol/ahp-1';
import type { ReactNode } from 'react';
import { useOpenSession } from '../host/context.js';
import { editCount } from '../parts/tool-words.js';
import { Icon } from '../ui/icons.js';
import { showChanges, useChangeset } from './use-changeset.js';
import { changesetsOf, hasTools, turnView } from './views.js';

export function TurnChanges({ turn }: { readonly turn: Turn }) {
  const session = useOpenSession();
  const view = turnView(changesetsOf(session.state, session.chat), turn.id);
  if (!view || !hasTools(turn)) return null;
  const written = countOf(turn);
  if (written.added + written.removed === 0) return <UncountedChanges uri={view.uri} />;
  return (
    <ChangesButton uri={view.uri}>
      <Counts uri={view.uri} written={written} />
    </ChangesButton>
  );
}

/** Commands may have changed files without edits in the turn: only the host knows. */
function UncountedChanges({ uri }: { readonly uri: string }) {
  const opened = useChangeset(uri);
  return opened.at === 'open' && opened.state.files.length > 0 ? <ChangesButton uri={uri} /> : null;
}

function ChangesButton({ uri, children }: { readonly uri: string; readonly children?: ReactNode }) {
  const session = useOpenSession();
  return (
    <button
      type="button"
      className="quiet small turn-changes"
      title="What the agent changed in this turn"
      onClick={() => showChanges({ session: session.uri, uri })}
    >
      <Icon name="file" /> Changes
      {children}
    </button>
  );
}

interface Lines {
  readonly added: number;
  readonly removed: number;
}

/** How many of the turn's changes remain: some may have been reverted. Only turns on the screen ask the host. */
function Counts({ uri, written }: { readonly uri: string; readonly written: Lines }) {
  const opened = useChangeset(uri);
  if (opened.at !== 'open' || opened.state.status !== 'ready') return <Sum {...written} />;
  const { files, operations = [] } = opened.state;
  if (files.length === 0)
    return (
      <>
        <s>
          <Sum {...written} />
        </s>{' '}
        taken back
      </>
    );
  if (!operations.some(({ id }) => id === 'reapply')) return <Sum {...written} />;
  return (
    <>
      <Sum {...sumOf(files.flatMap(({ edit }) => edit.diff ?? []))} /> partly taken back
    </>
  );
}

function Sum({ added, removed }: Lines) {
  return (
    <>
      {added > 0 && <span className="added">+{added}</span>}
      {removed > 0 && <span className="removed">−{removed}</span>}
    </>
  );
}

function countOf({ responseParts }: Turn): Lines {
  return sumOf(responseParts.flatMap((part) => (part.kind === 'toolCall' ? (editCount(part.toolCall) ?? []) : [])));
}

function sumOf(counts: readonly { readonly added?: number; readonly removed?: number }[]): Lines {
  const sum = (values: readonly (number | undefined)[]) => values.reduce<number>((all, each) => all + (each ?? 0), 0);
  return { added: sum(counts.map(({ added }) => added)), removed: sum(counts.map(({ removed }) => removed)) };
}
