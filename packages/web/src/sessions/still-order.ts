/** Keeps the order of the list while a mouse is over it: what a person is about to click stays where it is. */
import { type SessionGroup, SessionStatus, type SessionSummary } from '@atrium/protocol/ahp-1';
import { type PointerEvent, useEffect, useRef, useState } from 'react';

/** A mouse that has not moved for this long has been left there. */
export const STILL_MAX_MS = 10_000;

type Ordering = Pick<SessionSummary, 'status' | 'modifiedAt'>;

interface StillOrder {
  /** Groups sessions as they are, in the order that they had when the mouse came. */
  grouped(group: (items: readonly SessionSummary[]) => readonly SessionGroup[]): readonly SessionGroup[];
  readonly handlers: {
    onPointerEnter(event: PointerEvent): void;
    onPointerMove(event: PointerEvent): void;
    onPointerLeave(): void;
  };
}

export function useStillOrder(items: readonly SessionSummary[]): StillOrder {
  const [kept, setKept] = useState<ReadonlyMap<string, Ordering>>();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const release = () => {
    clearTimeout(timer.current);
    setKept(undefined);
  };
  const hold = ({ pointerType }: PointerEvent) => {
    // A finger is gone when the list changes.
    if (pointerType !== 'mouse') return;
    clearTimeout(timer.current);
    timer.current = setTimeout(release, STILL_MAX_MS);
    setKept((before) => before ?? new Map(items.map((item) => [item.resource, item])));
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  return {
    grouped: (group) => (kept ? groupedAsKept(items, kept, group) : group(items)),
    handlers: { onPointerEnter: hold, onPointerMove: hold, onPointerLeave: release },
  };
}

function groupedAsKept(
  items: readonly SessionSummary[],
  kept: ReadonlyMap<string, Ordering>,
  group: (items: readonly SessionSummary[]) => readonly SessionGroup[],
): readonly SessionGroup[] {
  const now = new Map(items.map((item) => [item.resource, item]));
  const ordered = items.map((item) => {
    const before = kept.get(item.resource);
    return before ? { ...item, modifiedAt: before.modifiedAt, status: statusInOrder(item, before) } : item;
  });
  return group(ordered).map((each) => ({
    ...each,
    items: each.items.map(({ summary, depth }) => ({ summary: now.get(summary.resource) ?? summary, depth })),
  }));
}

/** What a person puts into the archive, or takes out of it, moves at once. */
function statusInOrder(now: Ordering, before: Ordering): number {
  return (before.status & ~SessionStatus.IsArchived) | (now.status & SessionStatus.IsArchived);
}
