-- function in_a_comment() end
--[[ function in_a_block()
end ]]
local M = {}

local function hidden(a, b) return a + b end

function M.open(path, mode)
  local text = "function in_a_string() end"
  local function inner() end
  return hidden(1, 2)
end

function M:close() end

M.flush = function(self) self:close() end
local pack = table.pack or function(...) return { n = select("#", ...), ... } end

return M
