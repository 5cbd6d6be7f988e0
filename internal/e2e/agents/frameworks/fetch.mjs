console.log(await (await fetch(process.argv[2])).text())
