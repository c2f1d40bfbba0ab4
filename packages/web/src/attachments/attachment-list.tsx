/** The attachments of a message: pictures as thumbnails, everything else by its name. */
import type { Client } from '@atrium/client';
import { isPicture, type MessageAttachment, pictureSize } from '@atrium/protocol/ahp-1';
import { type RefObject, useEffect, useRef, useState } from 'react';
import { FileLink } from '../files/file-link.js';
import { useHost } from '../host/context.js';
import { bytesText } from '../model/format.js';
import { Dialog } from '../ui/dialog.js';
import { Icon, IconButton } from '../ui/icons.js';
import { bytesOf, shownPicture } from './contents.js';
import './attachments.css';

interface Props {
  readonly items: readonly MessageAttachment[];
  /** Files that are on their way. */
  readonly pending?: readonly string[];
  /** Absent for a message that was sent. */
  readonly onRemove?: (item: MessageAttachment) => void;
}

export function AttachmentList({ items, pending = [], onRemove }: Props) {
  if (items.length + pending.length === 0) return null;
  return (
    <ul className="chips" aria-label="Attachments">
      {items.map((item, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: attachments have no id
        <li key={index} className={isPicture(item) ? 'thumb' : ''}>
          <Attachment item={item} isSent={!onRemove} />
          {onRemove && <IconButton icon="close" label={`Remove ${item.label}`} onClick={() => onRemove(item)} />}
        </li>
      ))}
      {pending.map((name, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two files may have the same name
        <li key={`pending-${index}`} className="pending-file" aria-busy="true">
          {name || 'Picture'} …
        </li>
      ))}
    </ul>
  );
}

function Attachment({ item, isSent }: { readonly item: MessageAttachment; readonly isSent: boolean }) {
  if (isPicture(item)) return <Thumbnail item={item} />;
  if (item.type !== 'resource' || !('uri' in item)) return item.label;
  if (!item.uri.startsWith('atrium-content:'))
    return isSent ? <FileLink uri={item.uri} label={item.label} line={item.selection?.range.start.line} /> : item.label;
  return (
    <span className="file-chip" title={item.contentType}>
      <Icon name="file" /> {item.label}
      {item.sizeHint !== undefined && <span className="hint">{bytesText(item.sizeHint)}</span>}
    </span>
  );
}

function Thumbnail({ item }: { readonly item: MessageAttachment }) {
  const { client } = useHost();
  const box = useRef<HTMLButtonElement>(null);
  const { url, isUnseen } = usePicture(client, item, box);
  const [isOpen, setOpen] = useState(false);
  const size = item.type === 'resource' && 'uri' in item ? pictureSize(item) : undefined;
  const about = size ? `${item.label}, ${size.width} × ${size.height}` : item.label;
  if (isUnseen)
    return (
      <span className="file-chip" title="This picture cannot be shown">
        <Icon name="file" /> {item.label}
      </span>
    );
  return (
    <>
      <button
        type="button"
        className="picture"
        ref={box}
        title={about}
        aria-label={`Show ${about}`}
        onClick={() => setOpen(true)}
      >
        {url && <img src={url} alt="" decoding="async" />}
      </button>
      {isOpen && url && (
        <Dialog title={about} className="picture-dialog" onClose={() => setOpen(false)}>
          <img src={url} alt={item.label} />
        </Dialog>
      )}
    </>
  );
}

/** Loads the picture when it comes near the window. */
function usePicture(client: Client, item: MessageAttachment, box: RefObject<HTMLElement | null>) {
  const [url, setUrl] = useState<string>();
  const [isUnseen, setUnseen] = useState(false);
  const key = 'uri' in item ? String(item.uri) : item.label;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the content is what its name says, however often the message is made anew
  useEffect(() => {
    let isOver = false;
    let made: string | undefined;
    const load = async () => {
      const bytes = await bytesOf(client, item).catch(() => undefined);
      const shown = bytes && shownPicture(bytes);
      if (isOver) return;
      if (!shown) return setUnseen(true);
      made = URL.createObjectURL(shown.blob);
      setUrl(made);
    };
    const watcher = new IntersectionObserver(
      (entries) => {
        if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
        watcher.disconnect();
        void load();
      },
      { rootMargin: '400px' },
    );
    if (box.current) watcher.observe(box.current);
    return () => {
      isOver = true;
      watcher.disconnect();
      if (made !== undefined) URL.revokeObjectURL(made);
    };
  }, [client, key]);
  return { url, isUnseen };
}
