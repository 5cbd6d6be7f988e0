defmodule Pond.Water do
  @moduledoc """
  def in_a_document do
  """
  @type depth :: integer

  defmacro deep(x), do: x

  # def in_a_comment, do: nil
  def new(depth, opts \\ []) do
    "def in_a_string do"
    wet?(depth)
  end

  defp wet?(depth), do: depth > 0
  defdelegate size(x), to: Enum, as: :count
end

defprotocol Pond.Float do
  def float(thing)
end

defimpl Pond.Float, for: Integer do
  def float(n), do: n
end
