// An agent made with Vercel's AI SDK: a tool of its own that fetches, and readthru's tools by MCP over HTTP.
import { createMCPClient } from "@ai-sdk/mcp"
import { createOpenAI } from "@ai-sdk/openai"
import { generateText, stepCountIs, tool } from "ai"
import { z } from "zod"

const openai = createOpenAI({ baseURL: process.env.MODEL + "/v1", apiKey: "none" })
const mcp = await createMCPClient({ transport: { type: "http", url: process.env.READTHRU_MCP } })
const { text } = await generateText({
  model: openai("scripted"),
  tools: {
    ...(await mcp.tools()),
    web: tool({
      description: "Fetch a page.",
      inputSchema: z.object({ url: z.string() }),
      execute: async ({ url }) => (await fetch(url)).text(),
    }),
  },
  stopWhen: stepCountIs(10),
  prompt: "Read the guide.",
})
await mcp.close()
console.log(text)
