export * as NodeMcpEndpoint from "./NodeMcpEndpoint.ts"
