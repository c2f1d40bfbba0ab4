/**
 * What the field holds: the draft, or an earlier message that is being said differently. The draft waits meanwhile, and
 * is back when somebody changes their mind.
 */
import type { SessionState } from '@atrium/protocol';
import { useState } from 'react';
import { type Draft, NO_DRAFT, useDraft } from './use-draft.js';

export interface Writing extends Draft {
  change(patch: Partial<Draft>): void;
  clear(): void;
}

interface Edit extends Draft {
  readonly turnId: string;
}

export function useWriting(uri: string, { turns }: SessionState, editing: string | undefined): Writing {
  const [draft, setDraft] = useDraft(uri);
  const [edit, setEdit] = useState<Edit>();
  if (editing === undefined)
    return { ...draft, change: (patch) => setDraft({ ...draft, ...patch }), clear: () => setDraft(NO_DRAFT) };
  const current = edit?.turnId === editing ? edit : editOf(turns, editing);
  return { ...current, change: (patch) => setEdit({ ...current, ...patch }), clear: () => setEdit(undefined) };
}

function editOf(turns: SessionState['turns'], turnId: string): Edit {
  const { text = '', attachments = [] } = turns.find(({ id }) => id === turnId)?.userMessage ?? {};
  return { turnId, text, attachments };
}
