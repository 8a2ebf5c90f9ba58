# What the collectors of Ruby runners have in common: which checks each test ran, and where these stand.
#
# A test becomes one line of JSON in the file that EXECUTED_CHECKS names, in the form of executed_checks.cjs.

require "json"

module ExecutedChecks
  ROOT = File.realpath(Dir.pwd) + "/"
  @checks = nil

  class << self
    # A test begins.
    def start
      @checks = []
    end

    # A check runs: remember where it stands, the innermost place first.  name: of the method.
    def note(name)
      return unless @checks

      stack = caller_locations(2)
      places = stack.select { |place| place.absolute_path&.start_with?(ROOT) }
      found = places.map { |place| [place.absolute_path, place.lineno] }
      found[0] = [found[0][0], known(places[0], [*found[0], stack.size, name])] if places.any?
      @checks << found
    end

    # A test has ended.  Of one that failed, some checks were not come to.
    def finish(file:, line:, name:, passed:)
      checks, @checks = @checks || [], nil
      return unless passed && ENV["EXECUTED_CHECKS"]

      file = File.expand_path(file)
      first, others = checks.map(&:first), checks.flat_map { |places| places.drop(1) }
      told = { file: file, line: line, name: name, lines: within(first, file).tally,
               through: within(others, file).uniq, count: checks.size }
      File.write(ENV["EXECUTED_CHECKS"], JSON.generate(told) + "\n", mode: "a")
    end

    private

    def within(places, file)
      places.compact.select { |path, _| path == file }.map(&:last)
    end

    # The same call at the same depth stands at the same line; to find it, Ruby parses the file.
    def known(place, key)
      @known ||= {}
      @known[key] ||= line_of(place)
    end

    # The line with the name of the method: Ruby tells that of any part of a call that has several.
    def line_of(place)
      node = RubyVM::AbstractSyntaxTree.of(place, keep_script_lines: true)
      return place.lineno if node.nil?

      receiver, name = node.children
      return node.first_lineno unless %i[CALL QCALL OPCALL].include?(node.type)

      @sources ||= Hash.new { |kept, path| kept[path] = File.readlines(path) }
      lines = @sources[place.absolute_path][receiver.last_lineno - 1..]
      lines[0] = lines[0].byteslice(receiver.last_column..)
      receiver.last_lineno + (lines.index { |one| one.include?(name.to_s) } || 0)
    end
  end
end
