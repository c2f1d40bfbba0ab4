/** Comments that people leave on lines of files. They belong to the session, and go to the agent with the next message. */

import type { Subscription } from '@atrium/client';
import {
  type Annotation,
  annotationsChannel,
  type MessageAnnotationsAttachment,
  type MessageAttachment,
} from '@atrium/protocol/ahp-1';
import { useEffect, useMemo, useState } from 'react';
import { isAtrium } from '../host/extensions.js';
import { newId } from '../host/new-id.js';
import type { OpenSession } from '../host/open-session.js';
import { plural } from '../model/format.js';

export interface Comments {
  readonly items: readonly Annotation[];
  /** `line`: from 1 on. */
  add(resource: string, line: number, text: string): void;
  remove(id: string): void;
  /** Marks comments as sent to the agent. */
  sent(items: readonly Annotation[]): void;
  /** Takes the mark back: the message that they went along with was refused. */
  notSent(items: readonly Annotation[]): void;
}

const SENT = 'atrium.sent';
const NONE: readonly Annotation[] = [];

/** Undefined if the host stores no comments. */
export function useComments(session: OpenSession): Comments | undefined {
  const uri = channelOf(session);
  const [opened, setOpened] = useState<Subscription<'annotations'>>();
  const [items, setItems] = useState<readonly Annotation[]>(NONE);
  useEffect(() => {
    if (uri === undefined) return;
    let isOver = false;
    let own: Subscription<'annotations'> | undefined;
    session.client.subscribe(uri, { kind: 'annotations' }).then(
      (subscription) => {
        if (isOver) return subscription.close();
        own = subscription;
        setOpened(subscription);
        setItems(subscription.state.annotations);
        subscription.onChange(({ annotations }) => setItems(annotations));
      },
      // A host without them: nothing to show.
      () => {},
    );
    return () => {
      isOver = true;
      own?.close();
      setOpened(undefined);
      setItems(NONE);
    };
  }, [session, uri]);
  return useMemo(() => opened && commentsOf(session, opened, items), [session, opened, items]);
}

function channelOf({ client, uri, state }: OpenSession): string | undefined {
  return state.annotations?.resource ?? (isAtrium(client) ? annotationsChannel(uri) : undefined);
}

function commentsOf(
  { uri, chatUri }: OpenSession,
  channel: Subscription<'annotations'>,
  items: readonly Annotation[],
): Comments {
  const dispatch = (action: Parameters<typeof channel.dispatch>[0]) => void channel.dispatch(action).catch(() => {});
  return {
    items,
    add(resource, line, text) {
      const at = { line: line - 1, character: 0 };
      const annotation = {
        ...{ id: newId(), origin: { session: uri, chat: chatUri }, resource, resolved: false },
        ...{ range: { start: at, end: at }, entries: [{ id: newId(), text }] },
      };
      dispatch({ type: 'annotations/set', annotation });
    },
    remove: (annotationId) => dispatch({ type: 'annotations/removed', annotationId }),
    sent(gone) {
      for (const each of gone)
        dispatch({ type: 'annotations/set', annotation: { ...each, _meta: { ...each._meta, [SENT]: true } } });
    },
    notSent(items) {
      for (const each of items) dispatch({ type: 'annotations/set', annotation: each });
    },
  };
}

export function isSent({ _meta }: Annotation): boolean {
  return _meta?.[SENT] === true;
}

/** The comments that wait for the next message. */
export function unsentOf(comments: Comments | undefined): readonly Annotation[] {
  return (comments?.items ?? NONE).filter((each) => !each.resolved && !isSent(each));
}

/** The attachments of a message, followed by the comments. */
export function withComments(
  session: OpenSession,
  attachments: readonly MessageAttachment[],
  comments: readonly Annotation[],
): readonly MessageAttachment[] {
  const resource = channelOf(session);
  if (comments.length === 0 || resource === undefined) return attachments;
  const attached: MessageAnnotationsAttachment = {
    ...{ type: 'annotations', label: plural(comments.length, 'comment'), resource },
    annotationIds: comments.map(({ id }) => id),
  };
  return [...attachments, attached];
}
