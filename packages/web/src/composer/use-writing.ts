/**
 * What the field holds: the draft, or an earlier message that is being said differently. The draft waits meanwhile, and
 * is back when somebody changes their mind.
 */
import type { MessageAttachment, SessionState } from '@atrium/protocol';
import { useState } from 'react';
import { useDraft } from './use-draft.js';

export interface Writing {
  readonly text: string;
  readonly attachments: readonly MessageAttachment[];
  setText(text: string): void;
  setAttachments(attachments: readonly MessageAttachment[]): void;
  clear(): void;
}

interface Edit {
  readonly turnId: string;
  readonly text: string;
  readonly attachments: readonly MessageAttachment[];
}

export function useWriting(uri: string, { turns }: SessionState, editing: string | undefined): Writing {
  const [draft, setDraft] = useDraft(uri);
  const [draftAttachments, setDraftAttachments] = useState<readonly MessageAttachment[]>([]);
  const [edit, setEdit] = useState<Edit>();
  if (editing === undefined) {
    const clear = () => {
      setDraft('');
      setDraftAttachments([]);
    };
    const attachments = draftAttachments;
    return { text: draft, attachments, setText: setDraft, setAttachments: setDraftAttachments, clear };
  }
  const current = edit?.turnId === editing ? edit : editOf(turns, editing);
  return {
    ...current,
    setText: (text) => setEdit({ ...current, text }),
    setAttachments: (attachments) => setEdit({ ...current, attachments }),
    clear: () => setEdit(undefined),
  };
}

function editOf(turns: SessionState['turns'], turnId: string): Edit {
  const { text = '', attachments = [] } = turns.find(({ id }) => id === turnId)?.userMessage ?? {};
  return { turnId, text, attachments };
}
