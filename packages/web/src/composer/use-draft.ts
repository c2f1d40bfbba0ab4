/** The unsent message of each session, with its attachments. It lives as long as the tab. */
import type { MessageAttachment } from '@atrium/protocol';
import { useState } from 'react';

export interface Draft {
  readonly text: string;
  readonly attachments: readonly MessageAttachment[];
}

export const NO_DRAFT: Draft = { text: '', attachments: [] };

/** `about`: the session, or what else is being written. */
export function useDraft(about: string): [Draft, (draft: Draft) => void] {
  const key = keyOf(about);
  const [draft, setDraft] = useState(() => kept(key));
  const change = (next: Draft) => {
    setDraft(next);
    keep(key, next);
  };
  return [draft, change];
}

/** For a session that is opened next. */
export function keepDraft(about: string, draft: Draft): void {
  keep(keyOf(about), draft);
}

function keyOf(about: string): string {
  return `atrium.draft.${about}`;
}

function kept(key: string): Draft {
  try {
    return { ...NO_DRAFT, ...JSON.parse(sessionStorage.getItem(key) ?? '{}') };
  } catch {
    return NO_DRAFT;
  }
}

function keep(key: string, draft: Draft): void {
  try {
    if (draft.text === '' && draft.attachments.length === 0) sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, JSON.stringify(draft));
  } catch {
    // Longer than browsers keep: it is still in the field.
  }
}
