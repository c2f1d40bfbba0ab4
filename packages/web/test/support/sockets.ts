/** Cuts the connections of a page while its host stays there. */
import type { Page } from 'playwright-core';

/** Loads the page again; the returned function closes every connection that it has then. */
export async function cutterOf(page: Page): Promise<() => Promise<void>> {
  await page.addInitScript(keepSockets);
  await page.reload();
  return () =>
    page.evaluate(() => {
      for (const socket of (window as unknown as { sockets: WebSocket[] }).sockets) socket.close();
    });
}

/** Runs in the page, before anything else there: remembers connections, so that a test can cut them. */
function keepSockets(): void {
  const sockets: WebSocket[] = [];
  const Plain = WebSocket;
  class Kept extends Plain {
    constructor(...args: ConstructorParameters<typeof WebSocket>) {
      super(...args);
      sockets.push(this);
    }
  }
  Object.assign(window, { sockets, WebSocket: Kept });
}
