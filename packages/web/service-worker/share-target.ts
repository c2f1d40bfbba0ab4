/** Takes content that another app shares. Stores it on the device; the page asks for a session. */
import { keepShared, SHARE_PATH, sharedIn } from '../src/share/shared-items.js';

export function isShare({ method, url }: Request): boolean {
  const { origin, pathname } = new URL(url);
  return method === 'POST' && origin === location.origin && pathname === SHARE_PATH;
}

export async function takeShare(request: Request): Promise<Response> {
  await keepShared(sharedIn(await request.formData(), Date.now())).catch(() => {});
  return Response.redirect('/#/share', 303);
}
