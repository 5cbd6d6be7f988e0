# def not_here
module Store
  LIMIT = 10
  class Table < Base
    def self.open(path)
      new(path)
    end

    def empty?
      true
    end
  end
end
