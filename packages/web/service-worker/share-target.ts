/** Takes what another app shares. It is kept on the device, and the page asks where it should go. */
import { keepShared, SHARE_PATH, sharedIn } from '../src/share/shared-items.js';

export function isShare({ method, url }: Request): boolean {
  const { origin, pathname } = new URL(url);
  return method === 'POST' && origin === location.origin && pathname === SHARE_PATH;
}

export async function takeShare(request: Request): Promise<Response> {
  await keepShared(sharedIn(await request.formData(), Date.now())).catch(() => {});
  return Response.redirect('/#/share', 303);
}
