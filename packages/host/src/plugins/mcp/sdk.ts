/** The official SDK, loaded when the first server starts: a host without MCP servers does not pay for it. */

export type Sdk = Awaited<ReturnType<typeof loadSdk>>;

export async function loadSdk() {
  const [{ Client }, stdio, types] = await Promise.all([
    import('@modelcontextprotocol/sdk/client/index.js'),
    import('@modelcontextprotocol/sdk/shared/stdio.js'),
    import('@modelcontextprotocol/sdk/types.js'),
  ]);
  const { deserializeMessage, serializeMessage } = stdio;
  const { ElicitRequestSchema, ErrorCode, McpError, ResultSchema, ToolListChangedNotificationSchema } = types;
  const schemas = { ElicitRequestSchema, ResultSchema, ToolListChangedNotificationSchema };
  return { Client, deserializeMessage, serializeMessage, ErrorCode, McpError, ...schemas };
}

export type HttpSdk = Awaited<ReturnType<typeof loadHttpSdk>>;

export async function loadHttpSdk() {
  const [{ StreamableHTTPClientTransport, StreamableHTTPError }, { SSEClientTransport }, auth] = await Promise.all([
    import('@modelcontextprotocol/sdk/client/streamableHttp.js'),
    import('@modelcontextprotocol/sdk/client/sse.js'),
    import('@modelcontextprotocol/sdk/client/auth.js'),
  ]);
  const { extractWWWAuthenticateParams } = auth;
  return { StreamableHTTPClientTransport, StreamableHTTPError, SSEClientTransport, extractWWWAuthenticateParams };
}
