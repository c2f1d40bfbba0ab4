/** The part of the package `ws` that is needed: a WebSocket that can send headers. */
declare module 'ws' {
  export const WebSocket: new (
    url: string,
    options: { headers?: Record<string, string>; perMessageDeflate: false; maxPayload: number },
  ) => import('./websocket.js').SocketLike;
}
