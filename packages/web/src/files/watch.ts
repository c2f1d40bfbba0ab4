/** Hears of changes below a folder or of a file. Without a watch everything still works; it is only not by itself new. */
import type { Client, Subscription } from '@atrium/client';

export interface Watch {
  close(): void;
}

/** Calls back after each batch of changes, and when it begins to hear: what was read before may be old by then. */
export function watch(client: Client, uri: string, onChange: () => void): Watch {
  let isOver = false;
  let open: Subscription<'resourceWatch'> | undefined;
  const begin = async () => {
    const { channel } = await client.request('createResourceWatch', { uri });
    const subscription = await client.subscribe(channel, { kind: 'resourceWatch' });
    if (isOver) return subscription.close();
    open = subscription;
    subscription.onGone(() => void again());
    onChange();
    for await (const _change of subscription.actions()) onChange();
  };
  /** The host lets a watch go that nobody could hear for a while. */
  const again = async () => {
    open?.close();
    open = undefined;
    if (isOver) return;
    await begin().catch(() => {});
  };
  begin().catch(() => {});
  return {
    close() {
      isOver = true;
      open?.close();
    },
  };
}
