/** The unsent message of a form that belongs to no chat, with its attachments. It lives as long as the tab. */
import type { MessageAttachment } from '@atrium/protocol/ahp-1';
import { useState } from 'react';
import type { Selection } from '../model/selection.js';

export interface Draft extends Selection {
  readonly text: string;
  readonly attachments: readonly MessageAttachment[];
}

export const NO_DRAFT: Draft = { text: '', attachments: [] };

/** `about`: what is being written. */
export function useDraft(about: string): [Draft, (draft: Draft) => void] {
  const [draft, setDraft] = useState(() => keptDraft(about) ?? NO_DRAFT);
  const change = (next: Draft) => {
    setDraft(next);
    keepDraft(about, next);
  };
  return [draft, change];
}

function keyOf(about: string): string {
  return `atrium.draft.${about}`;
}

/** What this tab remembers; undefined when that is nothing. */
export function keptDraft(about: string): Draft | undefined {
  try {
    const kept = sessionStorage.getItem(keyOf(about));
    return kept === null ? undefined : { ...NO_DRAFT, ...JSON.parse(kept) };
  } catch {
    return undefined;
  }
}

/** An empty one is forgotten. */
export function keepDraft(about: string, draft: Draft): void {
  try {
    if (isBlank(draft)) sessionStorage.removeItem(keyOf(about));
    else sessionStorage.setItem(keyOf(about), JSON.stringify(draft));
  } catch {
    // Longer than browsers keep: it is still in the field.
  }
}

export function isBlank({ text, attachments, model, agent }: Draft): boolean {
  return text === '' && attachments.length === 0 && !model && !agent;
}
