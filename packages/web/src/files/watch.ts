/** Watches a file or a folder. Without a watch everything still works, but does not refresh by itself. */
import type { Client, Subscription } from '@atrium/client';

export interface Watch {
  close(): void;
}

/** Calls back after each batch of changes, and when the watch begins, because earlier reads may be stale by then. */
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
  /** The host drops the watch of a client that was away for a while. */
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
