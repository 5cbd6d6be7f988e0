// A browser led by Playwright, and its requests without a browser. Both use the proxy of the environment.
import { chromium, request } from "playwright-core"

const proxy = { server: process.env.HTTPS_PROXY }
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM,
  proxy,
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking", "--disable-component-update"],
})
const page = await browser.newPage()
await page.goto(process.argv[2])
console.log(await page.content())
await browser.close()
console.log("---- without a browser ----")
const plain = await request.newContext({ proxy })
console.log(await (await plain.get(process.argv[2])).text())
await plain.dispose()
