// An agent made with LangChain: its own tool for GET requests, and readthru's tools by MCP over standard input and output.
import { RequestsGetTool } from "@langchain/classic/tools"
import { MultiServerMCPClient } from "@langchain/mcp-adapters"
import { ChatOpenAI } from "@langchain/openai"
import { createAgent } from "langchain"

const mcp = new MultiServerMCPClient({ readthru: { transport: "stdio", command: "readthru", args: ["mcp"], env: process.env } })
const agent = createAgent({
  model: new ChatOpenAI({
    model: "scripted",
    apiKey: "none",
    useResponsesApi: true,
    configuration: { baseURL: process.env.MODEL + "/v1" },
  }),
  tools: [...(await mcp.getTools()), new RequestsGetTool({}, { maxOutputLength: 5000 })],
})
const { messages } = await agent.invoke({ messages: [{ role: "user", content: "Read the guide." }] })
await mcp.close()
console.log(messages.at(-1).text)
